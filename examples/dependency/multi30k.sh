#!/usr/bin/env bash
# Multi30k English→German: fairseq's transformer and dependency_transformer after the same updates.
#
#   bash examples/dependency/multi30k.sh MULTI30K STANZA [FOLDER]    (default: outputs/multi30k)
#
# MULTI30K has train, val and test_2016_flickr (.en and .de, may end in .gz); STANZA has the English
# tagger and parser (Stanza's own folder, or tagger.pt and parser.pt). An hour a system on one core.
set -euo pipefail
raw=$(realpath "${1:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
stanza=$(realpath "${2:?usage: multi30k.sh MULTI30K STANZA [FOLDER]}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${3:-outputs/multi30k}
. examples/environment.sh
. examples/tiny_settings.sh
data=$folder/prepared/data-bin

syntax-nmt prepare --source-lang en --target-lang de --vocab-size 8000 \
  --trainpref "$raw/train" --validpref "$raw/val" --testpref "$raw/test_2016_flickr" \
  --stanza-dir "$stanza" --destdir "$folder/prepared"

training=(
  "$data" -s en -t de --user-dir syntax_nmt --share-all-embeddings
  --encoder-embed-dim 256 --encoder-ffn-embed-dim 1024
  --encoder-layers 3 --decoder-layers 3 --encoder-attention-heads 8 --decoder-attention-heads 8
  --dropout 0.2 --label-smoothing 0.1 --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 1.0
  --lr 1e-3 --lr-scheduler inverse_sqrt --warmup-updates 500 --max-tokens 2048 --max-epoch 8
  --no-epoch-checkpoints --cpu --seed 1 --log-format simple --log-interval 50
)

score() { # NAME OPTION …: BLEU and chrF of all 1,000 translations
  fairseq-generate "$data" -s en -t de --user-dir syntax_nmt "${@:2}" --cpu --beam 5 \
    --path "$folder/$1/checkpoint_best.pt" --max-tokens 4000 --tokenizer syntax_words \
    --bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model" \
    >"$folder/$1.generate.log" 2>&1 || { tail -n 20 "$folder/$1.generate.log" >&2; exit 1; }
  grep '^D-' "$folder/$1.generate.log" | sed 's/^D-//' | sort -n | cut -f 3 >"$folder/$1.output"
  echo "$1: $(wc -l <"$folder/$1.output") translations"
  sacrebleu <(gzip -cdf "$raw"/test_2016_flickr.de*) -i "$folder/$1.output" -m bleu chrf -f text
}

train_once "$folder/stock.log" "${training[@]}" --task translation --arch transformer \
  --criterion label_smoothed_cross_entropy --save-dir "$folder/stock"
train_once "$folder/dependency.log" "${training[@]}" --task syntax_translation \
  --arch dependency_transformer "${dependency_supervision[@]}" --save-dir "$folder/dependency"
# Without the multiple of 1 fairseq's own task would leave out the last sentences.
score stock --task translation --required-batch-size-multiple 1
score dependency --task syntax_translation
syntax-nmt trees "$data" --path "$folder/dependency/checkpoint_best.pt" \
  --conllu "$folder/prepared/words/test.en.conllu" --output "$folder/test.en.predicted.conllu"
