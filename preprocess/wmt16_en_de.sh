#!/usr/bin/env bash
# WMT16 English-German, as Zhang et al. (COLING 2018) train the relation network on it, after
# Bastings et al. (2017): Europarl v7, Common Crawl and News Commentary v11, up to 50 words,
# newstest2015 for validation, newstest2016 for testing. They count 4,500,966 pairs, 4,173,550 of
# up to 50 words.
#
#   bash preprocess/wmt16_en_de.sh [--from DIR] [--destdir DIR] [--source-lang en --target-lang de]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# The paper has 30,000 source words and 16,000 target subwords; here both languages have 16,000
# subwords of their own. It names no ratio of lengths: here 9, as Moses cleans.
# Downloads about 1.7 GB from statmt.org, or takes the archives (test sets as wmt15/test.tgz,
# wmt16/test.tgz), or the files in them, from DIR. Validation and test: 2,169 / 2,999 pairs.
# Disk: about 15 GB. Default folder: outputs/wmt16_en_de.en-de; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wmt_functions.sh"
source_lang=en target_lang=de directions='en-de de-en'
begin '' '' "$@"
settings --separate --vocab-size 16000

europarl_and_commoncrawl
wmt_part training-parallel-nc-v11.tgz \
  https://data.statmt.org/wmt16/translation-task/training-parallel-nc-v11.tgz \
  news-commentary-v11.de-en
for year in 2015 2016; do newstest "$year"; done
have_all

training_text "$training_sources" "$training_targets" --max-words 50 --max-ratio 9
news_text valid 2015
news_text test 2016
prepare_corpus test
