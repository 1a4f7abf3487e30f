#!/usr/bin/env bash
# WMT17 English-German, as Zhang et al. (COLING 2018) train the relation network on it: Europarl
# v7, Common Crawl, News Commentary v12 and Rapid 2016, up to 50 words, newstest2014 for
# validation, newstest2015, 2016 and 2017 (test, test1, test2) for testing, without case.
#
#   bash preprocess/wmt17_en_de.sh [--from DIR] [--destdir DIR] [--source-lang en --target-lang de]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# The paper takes WMT's preprocessed text of these parts (5.6 million pairs), whose words are cut
# and escaped in a way that parsers are not trained on; here it is the raw text. It has 30,000
# source words and 8,000 target subwords; here both languages have 8,000 subwords of their own. It
# names no ratio of lengths: here 9, as Moses cleans.
# Downloads about 1.9 GB from statmt.org, or takes the archives (test sets as test-full.tgz,
# wmt15/test.tgz, wmt16/test.tgz, wmt17/test.tgz), or the files in them, from DIR. About 5.9
# million pairs before cleaning; the sets have 3,003 / 2,169, 2,999 and 3,004.
# Disk: about 18 GB. Default folder: outputs/wmt17_en_de.en-de; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wmt_functions.sh"
source_lang=en target_lang=de directions='en-de de-en'
begin '' '' "$@"
settings --separate --vocab-size 8000

europarl_and_commoncrawl
wmt_part training-parallel-nc-v12.tgz \
  https://data.statmt.org/wmt17/translation-task/training-parallel-nc-v12.tgz \
  news-commentary-v12.de-en
wmt_part rapid2016.tgz https://data.statmt.org/wmt17/translation-task/rapid2016.tgz rapid2016.de-en
for year in 2014 2015 2016 2017; do newstest "$year"; done
have_all

training_text "$training_sources" "$training_targets" --max-words 50 --max-ratio 9
news_text valid 2014
tests=()
for year in 2015 2016 2017; do
  news_text "test$year" "$year"
  tests+=("test$year")
done
prepare_corpus "${tests[@]}"
