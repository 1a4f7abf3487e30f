#!/usr/bin/env bash
# The paper's ablation on the built-in corpus: child head, parent head, both, and the layer.
#
#   bash examples/dependency/ablation.sh [FOLDER] [SEED …]   (default: outputs/ablation 1)
#
# Trains what is not there yet (two minutes a system), then prints a table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-outputs/ablation}
seeds=("${@:2}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
. examples/environment.sh
. examples/tiny_settings.sh
mkdir -p "$folder"
corpus_and_data "$folder"

row() { # NAME OPTION …: trains a system, into $folder/NAME, and prints its row of the table
  local best=$folder/$1/checkpoint_best.pt bleu uas=-
  train_once "$folder/$1.log" "$folder/prepared/data-bin" "${tiny_training[@]}" "${@:2}" \
    --save-dir "$folder/$1"
  translate_test "$folder" "$best" "$folder/$1.output"
  bleu=$(sacrebleu "$folder/corpus/test.tgt" -i "$folder/$1.output" --tokenize none --force -b -w 1)
  if [[ $1 != transformer* ]]; then
    uas=$(syntax-nmt trees "$folder/prepared/data-bin" --path "$best" \
      --conllu "$folder/corpus/test.src.conllu" --output "$folder/$1.conllu" --json - 2>/dev/null |
      python -c 'import json, sys; print(round(json.load(sys.stdin)["uas"], 1))')
  fi
  printf '%-24s %6s %6s\n' "$1" "$bleu" "$uas"
}

supervised=(--arch dependency_transformer_tiny "${dependency_supervision[@]}")
printf '%-24s %6s %6s\n' system BLEU UAS
for seed in "${seeds[@]}"; do
  row "transformer-$seed" --seed "$seed" \
    --arch syntax_transformer_tiny --criterion label_smoothed_cross_entropy
  row "csh-$seed" --seed "$seed" "${supervised[@]}" --parent-weight 0
  row "psh-$seed" --seed "$seed" "${supervised[@]}" --child-weight 0
  row "csh+psh-top-$seed" --seed "$seed" "${supervised[@]}"
  row "csh+psh-bottom-$seed" --seed "$seed" "${supervised[@]}" --supervised-layer 0
done
