#!/usr/bin/env bash
# The figures of this page on the built-in corpus, with tiny models: about an hour on one core.
#
#   bash examples/linearised/builtin.sh FOLDER
set -euo pipefail
mkdir -p -- "$1"
cd -- "$1"
export OMP_NUM_THREADS=1

words=(--source-tokenizer none --target-tokenizer none)
plugin=(--user-dir "$(syntax-nmt user-dir)" --task syntax_translation)
training=(
  "${plugin[@]}" --cpu --seed 1 --num-workers 0 --no-epoch-checkpoints --share-all-embeddings
  --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --dropout 0.1 --max-tokens 2000
  --adam-betas '(0.9,0.98)' --clip-norm 1.0
)

prepare() { # corpus, languages, folder, options
  local corpus=$1 source=$2 target=$3 folder=$4
  syntax-nmt prepare --source-lang "$source" --target-lang "$target" "${words[@]}" \
    --trainpref "$corpus/train" --validpref "$corpus/valid" --testpref "$corpus/test" \
    --destdir "$folder" "${@:5}"
}
run() { # program, folder, checkpoint, options
  "fairseq-$1" "$2/data-bin" "${plugin[@]}" --cpu --num-workers 0 --beam 5 --path "$3" "${@:4}"
}
cut() { # folder
  echo --tokenizer syntax_words "${words[@]}" --bpe sentencepiece \
    --sentencepiece-model "$1/sentencepiece.model"
}

# Multi-task beside a model without parses, 20 epochs each: as many translations.
syntax-nmt demo demo --train 3000 --valid 200 --test 200
prepare demo src tgt plain --vocab-size 800 --no-parse
prepare demo src tgt multitask --vocab-size 800 --linearised multitask --words kept
for model in plain multitask; do
  fairseq-train "$model/data-bin" "${training[@]}" --arch syntax_transformer_tiny \
    --optimizer adam --lr 1e-2 --lr-scheduler inverse_sqrt --warmup-updates 200 \
    --max-epoch 20 --save-dir "$model"
  # shellcheck disable=SC2046
  run generate "$model" "$model/checkpoint_last.pt" $(cut "$model") > "$model.out"
done
syntax-nmt score plain.out multitask.out --reference demo/test.tgt --tokenize none
sed 's/^▁<TR>/▁<PA>/' multitask/pieces/test.src |
  run interactive multitask multitask/checkpoint_last.pt --buffer-size 200 --max-tokens 4000 \
    > parses.out
syntax-nmt trees --kind constituents --hypothesis parses.out --linearised --trees demo/test.src.trees

# String-to-tree, by fairseq's own Transformer: the target is the language with trees.
syntax-nmt demo larger --train 6000 --valid 200 --test 300
prepare larger tgt src tree --linearised target
wider=(
  --arch transformer_tiny --encoder-embed-dim 128 --encoder-ffn-embed-dim 512
  --decoder-embed-dim 128 --decoder-ffn-embed-dim 512 --optimizer fused_adam --lr 3e-3
)
fairseq-train tree/data-bin "${training[@]}" "${wider[@]}" --save-dir tree \
  --lr-scheduler inverse_sqrt --warmup-updates 300 --max-epoch 18
fairseq-train tree/data-bin "${training[@]}" "${wider[@]}" --save-dir tree --reset-lr-scheduler \
  --lr-scheduler polynomial_decay --total-num-update 3600 --max-update 3600
fairseq-train tree/data-bin "${training[@]}" "${wider[@]}" --save-dir tree --reset-lr-scheduler \
  --lr-scheduler polynomial_decay --total-num-update 4400 --max-update 4400 --lr 5e-3 \
  --dropout 0.2 --max-tokens 4000 --reset-dataloader
fairseq-train tree/data-bin "${training[@]}" "${wider[@]}" --save-dir tree --reset-lr-scheduler \
  --lr-scheduler polynomial_decay --total-num-update 5400 --max-update 5400 --lr 5e-3 \
  --dropout 0.2 --max-tokens 4000 --reset-dataloader
# shellcheck disable=SC2046
run generate tree tree/checkpoint_last.pt $(cut tree) > tree.out
syntax-nmt score tree.out --prepared tree.out tree --reference larger/test.src --tokenize none
