#!/usr/bin/env bash
# IWSLT14 German-English, as Harada and Watanabe (2021) train on it, with what fairseq's
# prepare-iwslt14.sh does: lower case, 1 to 175 words, ratio of lengths up to 1.5, every 23rd of
# the pairs left for validation, five TED sets for testing, 10,000 joint subwords.
#
#   bash preprocess/iwslt14.sh [--from DIR] [--destdir DIR] [--source-lang de --target-lang en]
#     [--cased] [-- OPTIONS OF syntax-nmt prepare]
#
# --cased keeps upper case, which parsers do better with.
# Downloads about 20 MB from dl.fbaipublicfiles.com, or takes de-en.tgz, or the files in it, from
# DIR.
# fairseq's script leaves 160,239 / 7,283 / 6,750 pairs; here words are cut somewhat differently,
# so that the first two come out a little different.
# Disk: about 400 MB. Default folder: outputs/iwslt14.de-en; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=de target_lang=en directions='de-en en-de'
begin cased '' "$@"
settings --vocab-size 10000

tests='TED.dev2010 TEDX.dev2012 TED.tst2010 TED.tst2011 TED.tst2012'
members=() test_sources='' test_targets=''
for name in $tests; do
  test_sources+=" IWSLT14.$name.de-en.$source_lang.xml"
  test_targets+=" IWSLT14.$name.de-en.$target_lang.xml"
done
for lang in de en; do members+=("train.tags.de-en.$lang"); done
# shellcheck disable=SC2086 # names without spaces
archive de-en.tgz http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz - "${members[@]}" \
  $test_sources $test_targets
have_all

lowercase=(--lowercase) lowercase_both=(--lowercase both)
[ -z "$cased" ] || lowercase=() lowercase_both=()
marked_up talks talks "train.tags.de-en.$source_lang" "train.tags.de-en.$target_lang"
path[talks.src]=$corpus/talks.$source_lang path[talks.ref]=$corpus/talks.$target_lang
training_text talks.src talks.ref "${lowercase_both[@]}" --max-words 175 --max-ratio 1.5 \
  --hold-out-every 23 --hold-out "$corpus/valid"
marked_up sgm test "$test_sources" "$test_targets" "${lowercase[@]}"
prepare_corpus test
