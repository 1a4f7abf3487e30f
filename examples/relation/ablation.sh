#!/usr/bin/env bash
# The paper's three systems on the built-in corpus: BLEU, by length as well, and alignment error
# rate of the reference's words.
#
#   bash examples/relation/ablation.sh [FOLDER] [SEED …]   (default: outputs/relation_ablation 1)
#
# Trains what is not there yet (four to nine minutes a system on one core), then prints tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-outputs/relation_ablation}
seeds=("${@:2}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
. examples/environment.sh
. examples/tiny_settings.sh
mkdir -p "$folder"
corpus_and_data "$folder"
data=$folder/prepared/data-bin pieces=$folder/prepared/pieces

printf '%-24s %6s %6s\n' system BLEU AER
for seed in "${seeds[@]}"; do
  for system in rnn_search rnn_search_cgru relation_rnn; do
    name=$system-$seed
    train_to_average "$folder" "$data" "$name" --arch "${system}_tiny" --seed "$seed" --lr 5e-3 \
      --criterion label_smoothed_cross_entropy
    rate=$(syntax-nmt align "$data" --path "$folder/$name/averaged.pt" --cpu --segmented \
      --source "$pieces/test.src" --target "$pieces/test.tgt" --score "$folder/corpus/test.align" \
      --output "$folder/$name.align" --json - 2>>"$folder/$name.log" |
      python -c 'import json, sys; print(round(json.load(sys.stdin)["alignments"][0]["aer"], 1))')
    bleu=$(test_bleu "$folder" "$name")
    printf '%-24s %6s %6s\n' "$name" "$bleu" "$rate"
  done
  syntax-nmt score "$folder/rnn_search-$seed.output" "$folder/rnn_search_cgru-$seed.output" \
    "$folder/relation_rnn-$seed.output" --reference "$folder/corpus/test.tgt" --tokenize none \
    --source "$folder/corpus/test.src" --bins 8,12,16,20 --metrics bleu
done
