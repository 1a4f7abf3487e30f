#!/usr/bin/env bash
# ASPEC Japanese-English, from your copy: scientific abstracts, sorted by how well the sentences
# match. Wang et al. (2019) train dependency supervision on it (En-Ja, the best 1.5 million
# pairs); Harada and Watanabe (2021) latent phrases (Ja-En).
#
#   bash preprocess/aspec.sh --from DIR [--destdir DIR] [--source-lang ja --target-lang en]
#     [--pairs 1500000] [-- OPTIONS OF syntax-nmt prepare]
#
# ASPEC is handed out after registration at jipsti.jst.go.jp/aspec. DIR has
# ASPEC-JE/train/train-1.txt, train-2.txt and train-3.txt, dev/dev.txt and test/test.txt (plain or
# .gz): 3,000,000 / 1,790 / 1,812 lines. The training lines are sorted by their scores, and the
# first --pairs taken.
# What the papers do not say: 16,000 subwords for each language, up to 250 words (Japanese: 1.7
# characters to a word), a ratio of up to 9. They cut Japanese with KyTea; here it is cut as
# --source-tokenizer or --target-tokenizer after the -- says.
# Disk: about 6 GB. Default folder: outputs/aspec.ja-en; the data-bin is in prepared/ there.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/recipe_functions.sh"
source_lang=ja target_lang=en directions='ja-en en-ja'
begin '' pairs "$@"
pairs=${pairs:-1500000}
[[ $pairs =~ ^[1-9][0-9]*$ ]] || fail "--pairs $pairs: not a number of pairs"
settings --separate --vocab-size 16000

for name in train-1 train-2 train-3; do
  own "ASPEC-JE/train/$name.txt|train/$name.txt|$name.txt" jipsti.jst.go.jp/aspec
done
for name in dev test; do
  own "ASPEC-JE/$name/$name.txt|$name/$name.txt|$name.txt" jipsti.jst.go.jp/aspec
done
have_all

# best_first OUTPUT FILE …: lines by falling score; those of equal score stay in order.
best_first() {
  text_of "${@:2}" | LC_ALL=C sort -s -k 1,1gr -T "$destdir/raw" >"$1.part" && mv "$1.part" "$1"
}

train=() prefix=ASPEC-JE
for name in train-1 train-2 train-3; do train+=("${path[$prefix/train/$name.txt]}"); done
once "$destdir/raw/train.txt" : "${train[@]}" : best_first "$destdir/raw/train.txt" "${train[@]}"
aspec_text() { # SET FILE OPTION …
  once "$corpus/$1.ja" "$corpus/$1.en" : "$2" : markup aspec "$2" --output "$corpus/$1" "${@:3}"
}
aspec_text best "$destdir/raw/train.txt" --first "$pairs"
aspec_text valid "${path[$prefix/dev/dev.txt]}"
aspec_text test "${path[$prefix/test/test.txt]}"

path[best.src]=$corpus/best.$source_lang path[best.ref]=$corpus/best.$target_lang
training_text best.src best.ref --max-words 250 --max-ratio 9
prepare_corpus test
