#!/usr/bin/env bash
# The paper's analyses on the built-in corpus: word alignments out of the top three layers, and
# induced trees of word-level models.
#
#   bash examples/latent/ablation.sh [FOLDER] [SEED …]   (default: outputs/latent_ablation 1)
#
# Trains what is not there yet (some minutes a system), then prints tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seeds=("${@:2}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1)
. examples/environment.sh
. examples/tiny_settings.sh
folder=$(made_folder "${1:-}" outputs/latent_ablation)
mkdir -p "$folder/back"
corpus_and_data "$folder"
gold=$folder/corpus/test
text=(--trainpref "$folder/corpus/train" --validpref "$folder/corpus/valid" --testpref "$gold")

# The same pieces the other way round, and words.
[ -d "$folder/back/data-bin" ] ||
  syntax-nmt prepare --source-lang tgt --target-lang src --no-parse "${text[@]}" \
    --source-tokenizer none --target-tokenizer none \
    --sentencepiece-model "$folder/prepared/sentencepiece.model" --destdir "$folder/back" \
    >"$folder/back.prepare.log" 2>&1
[ -f "$folder/words/test.src-tgt.tgt.idx" ] ||
  fairseq-preprocess --source-lang src --target-lang tgt --joined-dictionary "${text[@]}" \
    --destdir "$folder/words" >"$folder/words.log" 2>&1

latent=(--arch latent_phrase_transformer_tiny)
declare -A systems=(
  [transformer]='--arch syntax_transformer_tiny --criterion label_smoothed_cross_entropy'
  [lpsi]="${latent[*]} --criterion label_smoothed_cross_entropy"
  [lpsi+mse]="${latent[*]} --criterion synchronous_cross_entropy --sync-loss mse"
  [lpsi+rank]="${latent[*]} --criterion synchronous_cross_entropy"
  [attention]='--arch syntax_transformer_tiny --criterion synchronous_cross_entropy
    --sync-loss attention'
)
train() { # FOLDER DATA NAME SYSTEM OPTION …
  # shellcheck disable=SC2086 # options without spaces
  train_to_average "$1" "$2" "$3" ${systems[$4]} --seed "$seed" "${@:5}"
}

error_rates() { # NAME LAYER: AER forwards, backwards, and of both by grow-diag with P and R
  syntax-nmt align "$folder/prepared/data-bin" --path "$folder/$1/averaged.pt" --layer "$2" \
    --reverse-databin "$folder/back/data-bin" --reverse-path "$folder/back/$1/averaged.pt" \
    --source "$folder/prepared/pieces/test.src" --target "$folder/prepared/pieces/test.tgt" \
    --segmented --score "$gold.align" --output "$folder/$1$2.align" --cpu --json - \
    2>>"$folder/$1.log" | python -c 'import json, sys
forward, back, both = json.load(sys.stdin)["alignments"]
rates = [forward["aer"], back["aer"], both["aer"], both["precision"], both["recall"]]
print(*(f"{rate:7.1f}" for rate in rates))'
}

for seed in "${seeds[@]}"; do
  printf '\nseed %s, three layers; alignment error rates of the top three layers, bottom to top\n' \
    "$seed"
  for system in transformer lpsi lpsi+mse lpsi+rank attention; do
    name=$system-$seed
    for data in "$folder/prepared/data-bin" "$folder/back/data-bin"; do
      there=$folder; [ "$data" = "$folder/prepared/data-bin" ] || there=$folder/back
      train "$there" "$data" "$name" "$system" --encoder-layers 3 --decoder-layers 3
    done
    bleu=$(test_bleu "$folder" "$name")
    printf '%-20s BLEU %s\n' "$name" "$bleu"
    for layer in -3 -2 -1; do
      rates=$(error_rates "$name" "$layer")
      printf '  layer %s  %s\n' "$layer" "$rates"
    done
  done

  printf '\nseed %s, word level: unlabelled F1 of the source trees\n' "$seed"
  for system in lpsi lpsi+mse lpsi+rank; do
    name=words-$system-$seed
    train "$folder" "$folder/words" "$name" "$system"
    echo "$name"
    syntax-nmt trees "$folder/words" --path "$folder/$name/averaged.pt" --kind constituents \
      --cpu --trees "$gold.src.trees" --collins --output "$folder/$name.trees" 2>&1 | tail -n 20
  done
done
