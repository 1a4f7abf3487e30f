#!/usr/bin/env bash
# WMT15 German-English, as Zhou et al. (ACL 2017) train the bi-scale decoder on it: Europarl v7,
# Common Crawl and News Commentary v10, up to 50 words, newstest2014 for validation, newstest2012
# and 2013 (test, test1) for testing, without case.
#
#   bash preprocess/wmt15_de_en.sh [--from DIR] [--destdir DIR] [-- OPTIONS OF syntax-nmt prepare]
#
# The paper's vocabularies are the 30,000 most frequent words of each language; here they are
# 30,000 subwords of each, so that there are no unknown words. It names no ratio of lengths: here
# 9, as Moses cleans. The chunks that its decoder learns are asked for after the -- (--chunks).
# Downloads about 1.7 GB from statmt.org, or takes the archives (test sets as wmt12/test.tgz,
# wmt13/test.tgz, test-full.tgz), or the files in them, from DIR. About 4.5 million / 3,003 /
# 3,003 and 3,000 pairs before cleaning.
# Disk: about 15 GB. Default folder: outputs/wmt15_de_en.de-en; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wmt_functions.sh"
source_lang=de target_lang=en directions='de-en en-de'
begin '' '' "$@"
settings --separate --vocab-size 30000

europarl_and_commoncrawl
wmt_part training-parallel-nc-v10.tgz https://www.statmt.org/wmt15/training-parallel-nc-v10.tgz \
  news-commentary-v10.de-en
for year in 2012 2013 2014; do newstest "$year"; done
have_all

training_text "$training_sources" "$training_targets" --max-words 50 --max-ratio 9
news_text valid 2014
news_text test2012 2012
news_text test2013 2013
prepare_corpus test2012 test2013
