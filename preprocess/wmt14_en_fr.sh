#!/usr/bin/env bash
# WMT14 English-French, as Xu et al. (ACL 2020) train phrase representations on it: Europarl v7,
# Common Crawl, UN, News Commentary v9 and the 10^9 corpus, 32,000 joint subwords, newstest2012
# and 2013 together for validation, newstest2014 for testing.
#
#   bash preprocess/wmt14_en_fr.sh [--from DIR] [--destdir DIR] [--source-lang en --target-lang fr]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# The paper keeps sentences of up to 256 subwords: pairs over 256 words are left out here, the
# rest in training, by --max-source-positions 256 --max-target-positions 256
# --skip-invalid-size-inputs-valid-test. It names no ratio of lengths: here 9, as Moses cleans.
# Downloads about 7 GB from statmt.org, or takes the archives (test sets as wmt12/test.tgz,
# wmt13/test.tgz, test-full.tgz), or the files in them, from DIR. About 40.8 million / 6,003 /
# 3,003 pairs.
# Disk: about 120 GB. Default folder: outputs/wmt14_en_fr.en-fr; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wmt_functions.sh"
source_lang=en target_lang=fr directions='en-fr fr-en'
begin '' '' "$@"
settings --vocab-size 32000

europarl_and_commoncrawl
wmt_part training-parallel-un.tgz https://www.statmt.org/wmt13/training-parallel-un.tgz \
  undoc.2000.fr-en
wmt_part training-parallel-nc-v9.tgz https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz \
  news-commentary-v9.fr-en
wmt_part training-giga-fren.tar https://www.statmt.org/wmt10/training-giga-fren.tar \
  giga-fren.release2.fixed '' .gz
for year in 2012 2013 2014; do newstest "$year"; done
have_all

training_text "$training_sources" "$training_targets" --max-words 256 --max-ratio 9
news_text valid 2012 2013
news_text test 2014
prepare_corpus test
