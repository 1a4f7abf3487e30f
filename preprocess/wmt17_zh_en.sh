#!/usr/bin/env bash
# WMT17 Chinese-English, in both directions, as Wang et al. (2019) train dependency supervision on
# it: the CWMT corpus (9 million pairs), 50,000 subwords of each language, newstest2017 for
# testing.
#
#   bash preprocess/wmt17_zh_en.sh --cwmt DIR [--from DIR] [--destdir DIR]
#     [--source-lang zh --target-lang en] [-- OPTIONS OF syntax-nmt prepare]
#
# CWMT is handed out after registration at nlp.nju.edu.cn/cwmt-wmt; unpacked, it has folders
# casia2015, casict2011, casict2015, datum2015, datum2017 and neu2017. Every NAME_en.txt in DIR
# is taken, and NAME_ch.txt or NAME_cn.txt, which must be beside it (plain, or else .gz), in the
# order of their paths.
# The paper does not say what it validates on: here newsdev2017. It names no limits: here 250
# words (Chinese: 1.7 characters to a word) and a ratio of 9.
# Downloads about 40 MB from statmt.org (dev.tgz and test.tgz of WMT17), or takes wmt17/dev.tgz
# and wmt17/test.tgz, or the files in them, from the folder of --from. 2,002 / 2,001 pairs.
# Disk: about 25 GB. Default folder: outputs/wmt17_zh_en.zh-en; the data-bin is in prepared/
# there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/wmt_functions.sh"
source_lang=zh target_lang=en directions='zh-en en-zh'
begin '' cwmt "$@"
[ -n "$cwmt" ] || fail "--cwmt DIR is missing: the CWMT corpus, from nlp.nju.edu.cn/cwmt-wmt"
[ -d "$cwmt" ] || fail "--cwmt $cwmt: there is no such folder"
settings --separate --vocab-size 50000

direction=$source_lang$target_lang
dev_source=newsdev2017-$direction-src.$source_lang.sgm
dev_target=newsdev2017-$direction-ref.$target_lang.sgm
archive wmt17/dev.tgz https://data.statmt.org/wmt17/translation-task/dev.tgz \
  9b1aa63c1cf49dccdd20b962fe313989 "$dev_source" "$dev_target"
newstest 2017
have_all

# chinese_of FILE_en.txt[.gz]: the other side of a part.
chinese_of() {
  local stem=${1%_en.txt*} ending
  for ending in ch.txt cn.txt ch.txt.gz cn.txt.gz; do
    [ ! -f "${stem}_$ending" ] || { echo "${stem}_$ending"; return; }
  done
  fail "$1 has no ${stem##*/}_ch.txt or ${stem##*/}_cn.txt beside it"
}

parts_en='' parts_zh='' number=0
while IFS= read -r found; do
  [ "$found" = "${found%.gz}" ] || [ ! -f "${found%.gz}" ] || continue # the plain file is taken
  number=$((number + 1))
  path[cwmt$number.en]=$found
  path[cwmt$number.zh]=$(chinese_of "$found")
  parts_en+=" cwmt$number.en" parts_zh+=" cwmt$number.zh"
done < <(find -L "$cwmt" -type f \( -name '*_en.txt' -o -name '*_en.txt.gz' \) | LC_ALL=C sort)
[ "$number" -gt 0 ] || fail "--cwmt $cwmt: no NAME_en.txt in it; unpack the corpus there"

sources=parts_$source_lang targets=parts_$target_lang
training_text "${!sources}" "${!targets}" --max-words 250 --max-ratio 9
marked_up sgm valid "$dev_source" "$dev_target"
news_text test 2017
prepare_corpus test
