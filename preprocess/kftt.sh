#!/usr/bin/env bash
# Kyoto Free Translation Task (KFTT) Japanese-English: articles of Wikipedia about Kyoto, free for
# everyone, where ASPEC is not. None of the papers uses it. The Japanese is cut by KyTea, as
# published (data/tok), the English is raw (data/orig). Up to 40 words, as in the task's cleaned
# training text.
#
#   bash preprocess/kftt.sh [--from DIR] [--destdir DIR] [--source-lang ja --target-lang en]
#     [-- OPTIONS OF syntax-nmt prepare]
#
# 16,000 subwords for each language, a ratio of lengths of up to 9, the task's dev and test.
# Downloads about 100 MB from phontron.com, or takes kftt-data-1.0.tar.gz, or the folder unpacked
# from it, from DIR. 440,288 / 1,166 / 1,160 pairs before cleaning.
# Disk: about 1 GB. Default folder: outputs/kftt.ja-en; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=ja target_lang=en directions='ja-en en-ja'
begin '' '' "$@"
cut=(--source-tokenizer none)
[ "$source_lang" = ja ] || cut=(--target-tokenizer none)
settings "${cut[@]}" --separate --vocab-size 16000

archive kftt-data-1.0.tar.gz https://www.phontron.com/kftt/download/kftt-data-1.0.tar.gz - \
  tok/kyoto-train.ja:440288 orig/kyoto-train.en:440288 \
  tok/kyoto-dev.ja:1166 orig/kyoto-dev.en:1166 tok/kyoto-test.ja:1160 orig/kyoto-test.en:1160
have_all

declare -A folder=([ja]=tok [en]=orig)
training_text "${folder[$source_lang]}/kyoto-train.$source_lang" \
  "${folder[$target_lang]}/kyoto-train.$target_lang" "${cut[@]}" --max-words 40 --max-ratio 9
for lang in ja en; do
  plain_text "$corpus/valid.$lang" "${path[${folder[$lang]}/kyoto-dev.$lang]}"
  plain_text "$corpus/test.$lang" "${path[${folder[$lang]}/kyoto-test.$lang]}"
done
prepare_corpus test
