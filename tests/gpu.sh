#!/usr/bin/env bash
# Everything that needs a GPU, with as many processes as cores: the tests that are skipped elsewhere, the names
# of the fused attention kernels, and the benchmark's tables in bfloat16 at base size.
#
#   bash tests/gpu.sh            # in an environment that holds the plugin
#   bash tests/gpu.sh WHEELS     # torch is there, but no network: WHEELS is a folder of what is not
#
# The folder is filled on another machine, for this one's Python (`pip download --no-deps`): fairseq
# and, where they are missing, what setup.py names, pytest-xdist and execnet included. Nothing is installed beyond a temporary folder.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}

fail() {
  echo "gpu.sh: error: $*" >&2
  exit 1
}

"$python" -c 'import torch' 2>/dev/null || fail "$python has no torch: set PYTHON to one that has"
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || fail \
  "torch $("$python" -c 'import torch; print(torch.__version__)') sees no GPU; nothing was tested"

if [ $# -gt 0 ]; then
  wheels=("$1"/*.whl)
  [ -f "${wheels[0]}" ] || fail "$1: no wheels there"
  site=$(mktemp -d)
  trap 'rm -rf "$site"' EXIT
  "$python" -m pip install --quiet --no-index --no-deps --target "$site" "${wheels[@]}"
  mkdir "$site/checkout"
  cp -r "$repository"/{syntax_nmt,tests,examples,pyproject.toml} "$site/checkout"
  repository=$site/checkout
  export PYTHONPATH=$site:$repository PATH=$site/bin:$PATH
fi
cd "$repository"
"$python" -c 'import fairseq, syntax_nmt' || fail \
  "fairseq or the plugin is missing: give a folder of wheels, or activate an environment"

"$python" -c '
import sys, torch
device = torch.cuda.get_device_properties(0)
print(f"{device.name}, {device.total_memory / 2**30:.0f} GiB; torch {torch.__version__}, "
      f"CUDA {torch.version.cuda}, Python {sys.version.split()[0]}")'
failed=0
jobs=()
if "$python" -c 'import xdist' 2>/dev/null; then
  jobs=(-n "$(nproc)")
else
  echo "gpu.sh: pytest-xdist is missing: one process runs all tests, about half an hour" >&2
fi
OMP_NUM_THREADS=1 "$python" -m pytest -q -m gpu -p no:cacheprovider "${jobs[@]}" \
  tests/{devices,backbone,methods,endurance} || failed=$?
at_base=(--size base --device cuda --dtype bfloat16)
"$python" examples/benchmark/kernels.py "${at_base[@]}" || failed=$?
"$python" examples/benchmark/speed.py "${at_base[@]}" \
  --works training beam5 --repeats 3 --memory
[ "$failed" = 0 ] || fail "a test or a kernel failed, see above"
