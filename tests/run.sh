#!/usr/bin/env bash
# Style, types and the tests of the gate. With --dear the dear tests alone, with --slow style, types
# and all tests. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
own_environment=yes extra=test
. examples/environment.sh
if [ "${1:-}" != --dear ]; then
  ruff check .
  ruff format --check .
  mypy
fi
# One thread a process: the processes share the cores. A file's tests stay together, because they
# share what is expensive to make: parsers, a trained model. Files begin in the order of conftest.py.
OMP_NUM_THREADS=1 python -m pytest --numprocesses "$(nproc)" --dist loadfile \
  --no-loadscope-reorder -q "$@"
