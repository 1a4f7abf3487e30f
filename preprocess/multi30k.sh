#!/usr/bin/env bash
# Multi30k: 29,000 image captions in English, German, French and Czech; small enough to try out
# every method. None of the papers uses it. 8,000 joint subwords, empty pairs left out, no other
# cleaning.
#
#   bash preprocess/multi30k.sh [--from DIR] [--destdir DIR] [--source-lang en --target-lang de]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# Downloads about 1.3 MB from github.com/multi30k/dataset, or takes train, val and
# test_2016_flickr (or test2016; the language as suffix, plain or .gz) from DIR. 29,000 / 1,014 /
# 1,000 lines.
# Disk: about 60 MB. Default folder: outputs/multi30k.en-de; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=en target_lang=de
directions='en-de de-en en-fr fr-en en-cs cs-en de-fr fr-de de-cs cs-de fr-cs cs-fr'
begin '' '' "$@"
settings --vocab-size 8000

url=https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw
for lang in "$source_lang" "$target_lang"; do
  file "train.$lang" "$url/train.$lang.gz" 29000
  file "val.$lang" "$url/val.$lang.gz" 1014
  file "test_2016_flickr.$lang|test2016.$lang" "$url/test_2016_flickr.$lang.gz" 1000
done
have_all

training_text "train.$source_lang" "train.$target_lang"
for lang in "$source_lang" "$target_lang"; do
  plain_text "$corpus/valid.$lang" "${path[val.$lang]}"
  plain_text "$corpus/test.$lang" "${path[test_2016_flickr.$lang]}"
done
prepare_corpus test
