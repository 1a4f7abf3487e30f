#!/usr/bin/env bash
# Tanaka English-Japanese (small_parallel_enja): 50,000 short sentences of 4 to 16 words, already
# cut into words and the English in lower case; small enough to try out every method. None of the
# papers uses it. 8,000 subwords for each language, empty pairs left out, no other cleaning.
#
#   bash preprocess/tanaka.sh [--from DIR] [--destdir DIR] [--source-lang en --target-lang ja]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# Downloads about 4.8 MB from github.com/odashi/small_parallel_enja, or takes train, dev and test
# (.en and .ja, plain or .gz) from DIR. 50,000 / 500 / 500 lines.
# Disk: about 60 MB. Default folder: outputs/tanaka.en-ja; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=en target_lang=ja directions='en-ja ja-en'
begin '' '' "$@"
settings --source-tokenizer none --target-tokenizer none --separate --vocab-size 8000

url=https://raw.githubusercontent.com/odashi/small_parallel_enja/master
for lang in en ja; do
  file "train.$lang" "$url/train.$lang" 50000
  file "dev.$lang" "$url/dev.$lang" 500
  file "test.$lang" "$url/test.$lang" 500
done
have_all

training_text "train.$source_lang" "train.$target_lang" \
  --source-tokenizer none --target-tokenizer none
for lang in en ja; do
  plain_text "$corpus/valid.$lang" "${path[dev.$lang]}"
  plain_text "$corpus/test.$lang" "${path[test.$lang]}"
done
prepare_corpus test
