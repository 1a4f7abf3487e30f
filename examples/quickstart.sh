#!/usr/bin/env bash
# From nothing to translations made with syntax, on a CPU: the built-in corpus, `syntax-nmt
# prepare`, training with supervised attention heads, BLEU, and the trees that the model predicts.
#
#   bash examples/quickstart.sh [FOLDER]      (default: outputs/quickstart; kept, and reused)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
own_environment=yes
. examples/environment.sh
. examples/tiny_settings.sh
export OMP_NUM_THREADS=1 # several threads are slower for a model so small
folder=$(made_folder "${1:-}" outputs/quickstart)
checkpoint=$folder/checkpoints/checkpoint_best.pt

say() { printf '\n== %s\n' "$*"; }
SECONDS=0

say "1. The built-in corpus, two languages with gold trees, and its data-bin folder"
corpus_and_data "$folder"
grep -A 6 '^split' "$folder/prepare.log"

say "2. Training dependency_transformer_tiny (log: $folder/train.log)"
train_once "$folder/train.log" "$folder/prepared/data-bin" "${tiny_training[@]}" \
  "${dependency_supervision[@]}" --arch dependency_transformer_tiny --optimizer fused_adam \
  --dropout 0 --max-update 1200 --lr-scheduler polynomial_decay --total-num-update 1200 \
  --warmup-updates 150 --validate-interval 3 \
  --save-dir "$folder/checkpoints" --seed 1
grep -o 'valid on .*' "$folder/train.log" | tail -n 1

say "3. Translating the test set"
translate_test "$folder" "$checkpoint" "$folder/test.output"
sacrebleu "$folder/corpus/test.tgt" -i "$folder/test.output" --tokenize none --force -m bleu -f text

say "4. The trees that the parent head predicts without a parser, and three translations"
sentences=(5 17 21)
syntax-nmt trees "$folder/prepared/data-bin" --path "$checkpoint" \
  --conllu "$folder/corpus/test.src.conllu" --output "$folder/test.predicted.conllu" \
  --sentences "$(IFS=,; echo "${sentences[*]}")"
for number in "${sentences[@]}"; do
  printf '\nsentence %s\n' "$number"
  printf '  source       %s\n' "$(sed -n "${number}p" "$folder/corpus/test.src")"
  printf '  translation  %s\n' "$(sed -n "${number}p" "$folder/test.output")"
  printf '  reference    %s\n' "$(sed -n "${number}p" "$folder/corpus/test.tgt")"
done

say "5. One sentence through fairseq-interactive"
head -n 1 "$folder/corpus/valid.src" | tee "$folder/sentence.src"
fairseq-interactive "$folder/prepared/data-bin" --user-dir "$(syntax-nmt user-dir)" \
  --task syntax_translation --cpu --path "$checkpoint" --beam 4 --bpe sentencepiece \
  --sentencepiece-model "$folder/prepared/sentencepiece.model" \
  <"$folder/sentence.src" 2>"$folder/interactive.log" | grep '^D-' | cut -f 3
echo "reference: $(head -n 1 "$folder/corpus/valid.tgt")"

say "Done in $SECONDS seconds after installation; everything is in $folder"
