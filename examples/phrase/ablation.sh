#!/usr/bin/env bash
# The paper's ablation on the built-in corpus: summary, phrase attention, transparent attention,
# phrases of a parser; BLEU of the mean of the last checkpoints.
#
#   bash examples/phrase/ablation.sh [FOLDER] [SEED …]   (default: outputs/phrase_ablation 1)
#
# Trains what is not there yet (three minutes a system), then prints a table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-outputs/phrase_ablation}
seeds=("${@:2}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
. examples/environment.sh
. examples/tiny_settings.sh
mkdir -p "$folder"
corpus_and_data "$folder"

ngram=(--arch syntax_transformer_tiny --phrase-segmentation ngram)
parsed=(--phrase-segmentation parsed --load-phrases)

row() { # NAME OPTION …: trains a system and prints its row of the table
  local bleu parameters inputs=()
  train_to_average "$folder" "$folder/prepared/data-bin" "$1" \
    --criterion label_smoothed_cross_entropy "${@:2}"
  [[ " $* " = *' --load-phrases '* ]] && inputs=(--load-phrases)
  bleu=$(test_bleu "$folder" "$1" "${inputs[@]}")
  parameters=$(grep -o 'num\. shared model params: [0-9,]*' "$folder/$1.log" | head -n 1 |
    grep -o '[0-9,]*$')
  printf '%-24s %6s %12s\n' "$1" "$bleu" "$parameters"
}

printf '%-24s %6s %12s\n' system BLEU parameters
for seed in "${seeds[@]}"; do
  row "transformer-$seed" --seed "$seed" --arch syntax_transformer_tiny
  row "mean-$seed" --seed "$seed" "${ngram[@]}" --phrase-summary mean
  row "max-$seed" --seed "$seed" "${ngram[@]}"
  row "max+attn-$seed" --seed "$seed" "${ngram[@]}" --phrase-attention
  row "max+attn+ta-$seed" --seed "$seed" --arch phrase_transformer_tiny
  row "max+attn+ta+parsed-$seed" --seed "$seed" --arch phrase_transformer_tiny "${parsed[@]}"
done
