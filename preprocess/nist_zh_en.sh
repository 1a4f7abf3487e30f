#!/usr/bin/env bash
# NIST Chinese-English, from LDC corpora that you own. By default as Zhang et al. (COLING 2018)
# train the relation network on it: 1.25 million pairs of six corpora, up to 50 words, the English
# in lower case, NIST 2002 (878 sentences) for validation, NIST 2003 to 2006 (919, 1,788, 1,082,
# 1,357) for testing. Zhou et al. (ACL 2017) have the same limits; other corpora and sets are
# given by options, such as those of Wang et al. (2019):
#   --corpora "LDC2003E14 LDC2005T10 LDC2005E83 LDC2006E26 LDC2003E07 LDC2005T06 LDC2004T07
#     LDC2004T08 LDC2006E34 LDC2006E85 LDC2006E92 LDC2002E18" --tests "mt05 mt08 mt12"
#
#   bash preprocess/nist_zh_en.sh --from DIR [--destdir DIR] [--corpora "LDC…"] [--valid mt02]
#     [--tests "mt03 …"] [--encoding gb18030] [--cased] [-- OPTIONS OF syntax-nmt prepare]
#
# DIR has, in any of its folders, of each corpus the aligned sentences in UTF-8, LDC2002E18.zh and
# LDC2002E18.en (plain or .gz; of LDC2004T07 the Hansards), and of each set the files of the
# evaluation, mt02-src.zh.sgm and mt02-ref.en.sgm, in --encoding (default: utf-8). The data-bin
# gets the first reference of each; all are in corpus/mt02.en0, mt02.en1, … The papers'
# vocabularies are the 30,000 most frequent words of each language; here they are 30,000 subwords
# of each. Chinese is measured in characters, 1.7 to a word, unless it is cut already (--
# --source-tokenizer none). They name no ratio of lengths: here 9, as Moses cleans.
# Disk: about 5 GB. Default folder: outputs/nist_zh_en.zh-en; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=zh target_lang=en directions=zh-en
begin cased 'corpora valid tests encoding' "$@"
corpora=${corpora:-LDC2002E18 LDC2003E07 LDC2003E14 LDC2004T07 LDC2004T08 LDC2005T06}
valid=${valid:-mt02} tests=${tests:-mt03 mt04 mt05 mt06} encoding=${encoding:-utf-8}
settings --separate --vocab-size 30000

sources='' targets=''
for name in $corpora; do
  own "$name.zh" "catalog.ldc.upenn.edu/$name"
  own "$name.en" "catalog.ldc.upenn.edu/$name"
  sources+=" $name.zh" targets+=" $name.en"
done
for name in $valid $tests; do
  own "$name-src.zh.sgm" "NIST OpenMT, catalog.ldc.upenn.edu"
  own "$name-ref.en.sgm" "NIST OpenMT, catalog.ldc.upenn.edu"
done
have_all

lowercase=(--lowercase) lowercase_target=(--lowercase target)
[ -z "$cased" ] || lowercase=() lowercase_target=()
training_text "$sources" "$targets" "${lowercase_target[@]}" --max-words 50 --max-ratio 9
for name in $valid $tests; do
  files=("${path[$name-src.zh.sgm]}" "${path[$name-ref.en.sgm]}")
  once "$corpus/$name.zh" "$corpus/$name.en" : "${files[@]}" : markup nist "${files[@]}" \
    "$corpus/$name" zh en --encoding "$encoding" "${lowercase[@]}"
done
for lang in zh en; do plain_text "$corpus/valid.$lang" "$corpus/$valid.$lang"; done
# shellcheck disable=SC2086 # names without spaces
prepare_corpus $tests
