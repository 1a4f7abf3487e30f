#!/usr/bin/env bash
# From nothing to translations made with syntax, on a CPU: the built-in corpus, `syntax-nmt
# prepare`, training with supervised attention heads, BLEU, and the trees that the model predicts.
#
#   bash examples/quickstart.sh [FOLDER]      (default: outputs/quickstart; kept, and reused)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-outputs/quickstart}
. examples/environment.sh
mkdir -p "$folder"

say() { printf '\n== %s\n' "$*"; }
# Runs a command with its output in a file of $folder; shows the end of it if the command fails.
logged() {
  local log="$folder/$1"
  shift
  "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "the whole log: $log" >&2; exit 1; }
}
SECONDS=0

say "1. The built-in corpus: two languages with gold trees, chunks and alignments"
[ -f "$folder/corpus/demo.json" ] || syntax-nmt demo "$folder/corpus"

say "2. Subwords, data-bin folder and side information"
logged prepare.log syntax-nmt prepare \
  --source-lang src --target-lang tgt --source-tokenizer none --target-tokenizer none \
  --trainpref "$folder/corpus/train" --validpref "$folder/corpus/valid" \
  --testpref "$folder/corpus/test" --vocab-size 1000 --destdir "$folder/prepared"
grep -A 9 '^split' "$folder/prepare.log"

data="$folder/prepared/data-bin"
plugin=(--user-dir syntax_nmt --task syntax_translation)

say "3. Training dependency_transformer_tiny (log: $folder/train.log)"
logged train.log fairseq-train "$data" "${plugin[@]}" --arch dependency_transformer_tiny \
  --load-dependencies --criterion dependency_cross_entropy --label-smoothing 0.1 \
  --share-all-embeddings --dropout 0.1 \
  --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 1.0 \
  --lr 3e-3 --lr-scheduler inverse_sqrt --warmup-updates 300 --max-tokens 2500 \
  --max-epoch 18 --patience 5 --no-epoch-checkpoints --save-dir "$folder/checkpoints" \
  --cpu --seed 1 --log-format simple --log-interval 100
grep -o 'valid on .*' "$folder/train.log" | tail -n 1

say "4. Translating the test set"
model=(--path "$folder/checkpoints/checkpoint_best.pt" --beam 4
  --bpe sentencepiece --sentencepiece-model "$folder/prepared/sentencepiece.model" --cpu)
logged generate.log fairseq-generate "$data" "${plugin[@]}" "${model[@]}" --max-tokens 4000
grep '^D-' "$folder/generate.log" | sed 's/^D-//' | sort -n | cut -f 3 >"$folder/test.output"
sacrebleu "$folder/corpus/test.tgt" -i "$folder/test.output" --tokenize none -m bleu -f text

say "5. The trees that the parent head predicts, without a parser"
syntax-nmt trees "$data" --path "$folder/checkpoints/checkpoint_best.pt" --gen-subset test \
  --conllu "$folder/corpus/test.src.conllu" --output "$folder/test.predicted.conllu" --draw 3

say "6. One sentence through fairseq-interactive"
head -n 1 "$folder/corpus/valid.src" | tee "$folder/sentence.src"
fairseq-interactive "$data" "${plugin[@]}" "${model[@]}" \
  <"$folder/sentence.src" 2>"$folder/interactive.log" | grep '^D-' | cut -f 3
echo "reference: $(head -n 1 "$folder/corpus/valid.tgt")"

say "Done in $SECONDS seconds after installation; everything is in $folder"
