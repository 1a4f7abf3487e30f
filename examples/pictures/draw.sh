#!/usr/bin/env bash
# Draws the pictures of this folder and a report, out of what examples/latent/ablation.sh has trained
# and two models of its own, with supervised heads and with chunks.
#
#   bash examples/pictures/draw.sh [OUTPUT [LATENT]]   (default: outputs/pictures, and the folder of
#                                                       examples/latent/ablation.sh)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. examples/environment.sh
. examples/tiny_settings.sh
latent=$(named_folder "${2:-}" outputs/latent_ablation)
output=$(made_folder "${1:-}" outputs/pictures)
sentence=(--sentence 21)

draw() { # KIND NAME OPTION …
  syntax-nmt plot "$1" "${@:3}" --output "$output/$2.png"
}

corpus=$latent/corpus/test
pieces=(--source "$latent/prepared/pieces/test.src" --target "$latent/prepared/pieces/test.tgt"
  --segmented)
text=("$corpus.src" "$corpus.tgt")
words=(--source "$corpus.src" --target "$corpus.tgt")

data=$latent/prepared/data-bin
[ -d "$data" ] ||
  { echo "draw: error: no $data: run bash examples/latent/ablation.sh before this" >&2; exit 1; }
train_to_average "$output" "$data" heads --seed 1 \
  --arch dependency_transformer_tiny "${dependency_supervision[@]}"
train_to_average "$output" "$data" chunks --seed 1 --lr 5e-3 \
  --arch bi_scale_rnn_tiny --load-chunks --criterion chunk_cross_entropy

# Supervised heads beside free ones; the trees of the parent head.
draw attention supervised_heads "$data" --cpu \
  --path "$output/heads/averaged.pt" "${pieces[@]:0:2}" --segmented \
  --gold "$corpus.src.conllu" "${sentence[@]}"
syntax-nmt trees "$data" --cpu --path "$output/heads/averaged.pt" \
  --conllu "$corpus.src.conllu" --output "$output/heads.conllu"
draw dependencies dependencies "$output/heads.conllu" --gold "$corpus.src.conllu" \
  "${sentence[@]}"

# Latent phrases: cross-attention, alignments, trees and the distances that they come from.
model=("$latent/prepared/data-bin" --cpu --path "$latent/lpsi+mse-1/averaged.pt")
draw attention cross_attention "${model[@]}" "${pieces[@]}" --attention cross --layer -1 \
  "${sentence[@]}"
draw alignment alignment "${words[@]}" --hypothesis "$latent/lpsi+mse-1-1.align" \
  --gold "$corpus.align" "${sentence[@]}"
draw constituents constituents "$latent/words-lpsi+mse-1.trees" --gold "$corpus.src.trees" \
  "${sentence[@]}"
draw distances distances "$latent/words" --cpu --path "$latent/words-lpsi+mse-1/averaged.pt" \
  "${words[@]}" --segmented "${sentence[@]}"

# Chunks of the bi-scale decoder, and where in the source it looks for each.
spm=(--bpe sentencepiece --sentencepiece-model "$latent/prepared/sentencepiece.model")
syntax-nmt chunks "$data" --cpu --path "$output/chunks/averaged.pt" \
  "${words[@]}" "${spm[@]}" --output "$output/test.chunks" --alignments "$output/test.chunks.json"
draw chunks chunks --target "$corpus.tgt" --hypothesis "$output/test.chunks" \
  --gold "$corpus.tgt.chunks" "${sentence[@]}"
draw chunks chunk_attention --alignments "$output/test.chunks.json" "${sentence[@]}"

# Figures: BLEU by length, agreement by distance.
scored=() named=() report=()
for system in transformer lpsi lpsi+mse; do
  scored+=(--system "$system" "$latent/$system-1.output")
  named+=(--name "$system" --path "$latent/$system-1/averaged.pt")
  report+=(--log "$system" "$latent/$system-1.log" --alignments "$system"
    "$latent/$system-1-1.align" "${text[@]}")
done
syntax-nmt contrast "$latent/prepared/data-bin" --cpu "${named[@]}" "${spm[@]}" \
  --source "$latent/corpus/contrast.src" --correct "$latent/corpus/contrast.correct.tgt" \
  --incorrect "$latent/corpus/contrast.incorrect.tgt" \
  --distance "$latent/corpus/contrast.distance" --json "$output/contrast.json"
scored+=(--reference "$corpus.tgt" --source "$corpus.src" --tokenize none --bins 8,12,16,20)
syntax-nmt score "${scored[@]}" --metrics bleu --json "$output/scores.json"
draw length length "$output/scores.json"
draw contrast contrast "$output/contrast.json"

syntax-nmt report "${scored[@]}" "${report[@]}" \
  --alignments reference "$corpus.align" "${text[@]}" \
  --constituents reference "$corpus.src.trees" \
  --constituents lpsi+mse "$latent/words-lpsi+mse-1.trees" \
  --title "Latent phrases on the built-in corpus" --output "$output/report.html"
