#!/usr/bin/env bash
# Installs the package under each Python with uv, runs the commands on a small corpus, 20 updates a
# training, then the tests that CI runs; and reads the checkpoint of each row in every other one. Ends
# with the table of docs/compatibility.md. Before a release, by hand: a row takes some 5 GB and, with the
# tests, half an hour on two cores.
#
#   bash tests/matrix.sh [--no-tests] [ROW …]        (default: all rows)
#
# Everything is in outputs/matrix: an environment, a log and the results for each row.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
declare -A install_options=(
  [3.10]=''
  [3.11-lowest]='--resolution lowest-direct'
  [3.12-constraints]='--constraint constraints.txt'
  [3.13-newest]='--upgrade'
)
declare -A labels=(
  [3.11-lowest]=', lowest versions'
  [3.12-constraints]=', `constraints.txt`'
  [3.13-newest]=', newest versions'
)
rows=(3.10 3.11-lowest 3.12-constraints 3.13-newest)
tests=yes
[ "${1:-}" = --no-tests ] && tests=no && shift
[ $# -gt 0 ] && rows=("$@")
folder=$PWD/outputs/matrix
export OMP_NUM_THREADS=1

command -v uv >/dev/null || { echo "matrix: error: uv is missing; install it" >&2; exit 1; }
for row in "${rows[@]}"; do
  [ -n "${install_options[$row]+known}" ] ||
    { echo "matrix: error: no row $row; rows are ${!install_options[*]}" >&2; exit 1; }
done

install() { # ROW
  # shellcheck disable=SC2086 # options without spaces
  local options=(${install_options[$1]})
  uv venv --quiet --allow-existing --python "${1%%-*}" "$VIRTUAL_ENV"
  # As README.md says: what fairseq is built with first, then the rest without another torch.
  uv pip install "${options[@]}" \
    'torch>=2.6' 'numpy>=1.26' 'setuptools>=64' 'wheel>=0.40' 'cython>=3'
  env -u CUDA_HOME uv pip install "${options[@]}" --no-build-isolation --editable '.[test]'
  python -c 'import torchaudio' 2>/dev/null || uv pip uninstall --quiet torchaudio
}

run_commands() { # WORK: every step of the way from text to figures
  local plugin text method
  plugin=(--user-dir "$(syntax-nmt user-dir)" --task syntax_translation --cpu)
  rm -rf "$1" && mkdir -p "$1"
  syntax-nmt demo "$1/corpus" --train 300 --valid 20 --test 20
  text=(--source-lang src --target-lang tgt --source-tokenizer none --target-tokenizer none)
  syntax-nmt prepare "${text[@]}" --trainpref "$1/corpus/train" --validpref "$1/corpus/valid" \
    --testpref "$1/corpus/test" --vocab-size 400 --destdir "$1/prepared"
  syntax-nmt inspect "$1/prepared/data-bin"
  fairseq-train "$1/prepared/data-bin" "${plugin[@]}" --arch dependency_transformer_tiny \
    --load-dependencies --criterion dependency_cross_entropy --label-smoothing 0.1 \
    --optimizer fused_adam --lr 3e-3 --max-tokens 1000 --max-update 20 --save-dir "$1/checkpoints"
  translate "$1" "$1/checkpoints/checkpoint_last.pt" "$1/test.gen"
  syntax-nmt score "$1/test.gen" --reference "$1/corpus/test.tgt" --tokenize none
  syntax-nmt trees "$1/prepared/data-bin" --path "$1/checkpoints/checkpoint_last.pt" --cpu \
    --segmented "$1/prepared/pieces/test.src" --conllu "$1/corpus/test.src.conllu" \
    --output "$1/trees.conllu"
  syntax-nmt align "$1/prepared/data-bin" --path "$1/checkpoints/checkpoint_last.pt" --cpu \
    --source "$1/prepared/pieces/test.src" --target "$1/prepared/pieces/test.tgt" --segmented \
    --output "$1/test.links"
  syntax-nmt plot dependencies "$1/trees.conllu" --sentence 1 --output "$1/tree.svg"
  syntax-nmt report "$1/test.gen" --reference "$1/corpus/test.tgt" --output "$1/report.html"
}

translate() { # WORK CHECKPOINT OUTPUT
  fairseq-generate "$1/prepared/data-bin" --user-dir "$(syntax-nmt user-dir)" \
    --task syntax_translation --cpu --path "$2" --beam 4 --bpe sentencepiece \
    --sentencepiece-model "$1/prepared/sentencepiece.model" >"$3"
}

activate() { # ROW
  export VIRTUAL_ENV=$folder/$1/venv
  PATH=$VIRTUAL_ENV/bin:$outer_path
}

step() { # ROW NAME COMMAND …: prints a row of the table
  local began=$SECONDS result=passed log=$folder/$1/$2.log
  # In the background, as `set -e` counts for nothing on the left of `||`.
  ( set -e; "${@:3}" ) >"$log" 2>&1 &
  wait $! || { result="FAILED, see $log"; failures=$((failures + 1)); }
  case $2 in tests*) result="$result: $(tail -n 1 "$log")" ;; esac  # how many, in what time
  printf '%-18s %-10s %5d s  %s\n' "$1" "$2" $((SECONDS - began)) "$result"
}

print_versions() { # ROW: its line of the table in docs/compatibility.md
  python - "${labels[$1]:-}" <<'PYTHON'
import platform
import sys
from importlib.metadata import version

packages = ("torch", "numpy", "sacrebleu", "stanza")
versions = (version(package).partition("+")[0] for package in packages)
print("|", " | ".join((platform.python_version() + sys.argv[1], *versions)), "|")
PYTHON
}

outer_path=$PATH failures=0
for row in "${rows[@]}"; do
  mkdir -p "$folder/$row"
  activate "$row"
  step "$row" install install "$row"
  step "$row" commands run_commands "$folder/$row/work"
  for tier in '' --dear; do
    # shellcheck disable=SC2086 # nothing, or an option
    [ "$tests" = no ] || step "$row" "tests${tier#-}" python -m pytest -q -n 2 --dist loadfile $tier
  done
done

# The same checkpoint gives the same translations everywhere.
for row in "${rows[@]}"; do
  for other in "${rows[@]}"; do
    [ "$row" = "$other" ] && continue
    activate "$row"
    step "$row" "of-$other" translate "$folder/$other/work" \
      "$folder/$other/work/checkpoints/checkpoint_last.pt" "$folder/$row/of-$other.gen"
    diff <(grep '^D-' "$folder/$row/of-$other.gen" | cut -f 1,3) \
      <(grep '^D-' "$folder/$other/work/test.gen" | cut -f 1,3) >/dev/null ||
      { echo "$row: other translations than $other's"; failures=$((failures + 1)); }
  done
done

printf '\n| Python | torch | NumPy | sacrebleu | stanza |\n|---|---|---|---|---|\n'
for row in "${rows[@]}"; do
  activate "$row"
  print_versions "$row" 2>/dev/null || echo "$row: not installed"
done
exit $((failures > 0))
