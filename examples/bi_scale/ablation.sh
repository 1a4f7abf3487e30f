#!/usr/bin/env bash
# The paper's systems on the built-in corpus: BLEU, and the accuracies of boundaries and tags.
#
#   bash examples/bi_scale/ablation.sh [FOLDER] [SEED …]   (default: outputs/bi_scale_ablation 1)
#
# Trains what is not there yet (three to six minutes a system on one core), then prints tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-outputs/bi_scale_ablation}
seeds=("${@:2}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
. examples/environment.sh
. examples/tiny_settings.sh
mkdir -p "$folder"
corpus_and_data "$folder"
data=$folder/prepared/data-bin

bi_scale='--arch bi_scale_rnn_tiny --load-chunks --criterion chunk_cross_entropy'
dl4mt='--arch rnn_search_cgru_tiny --criterion label_smoothed_cross_entropy'
declare -A systems=(
  [dl4mt]=$dl4mt
  [dl4mt-2]="$dl4mt --decoder-layers 2"
  [bi-scale]=$bi_scale
  [bi-scale-step]="$bi_scale --chunk-context step"
  [bi-scale-word]="$bi_scale --chunk-attention word"
)

accuracies() { # NAME: of boundaries and tags after the reference's words, F1 of chosen chunks
  syntax-nmt chunks "$data" --path "$folder/$1/averaged.pt" --cpu \
    --source "$folder/corpus/test.src" --target "$folder/corpus/test.tgt" \
    --bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model" \
    --score "$folder/corpus/test.tgt.chunks" --output "$folder/$1.chunks" \
    --json "$folder/$1.chunks.json" >>"$folder/$1.log" 2>&1
  python -c 'import json, sys
figures = json.load(open(sys.argv[1]))
print(*(f"{figures[name]:6.1f}" for name in ("boundary_accuracy", "tag_accuracy", "f1")))' \
    "$folder/$1.chunks.json"
}

for seed in "${seeds[@]}"; do
  printf '\nseed %s\n%-20s %6s %6s %6s %6s\n' "$seed" system BLEU bound. tags F1
  for system in dl4mt dl4mt-2 bi-scale bi-scale-step bi-scale-word; do
    name=$system-$seed
    # shellcheck disable=SC2086 # options without spaces
    train_to_average "$folder" "$data" "$name" ${systems[$system]} --seed "$seed" --lr 5e-3
    bleu=$(test_bleu "$folder" "$name")
    figures=
    case $system in bi-scale*) figures=$(accuracies "$name") ;; esac
    printf '%-20s %6s %s\n' "$name" "$bleu" "$figures"
  done
done
