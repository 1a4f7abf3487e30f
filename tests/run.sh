#!/usr/bin/env bash
# Style, types and tests. Arguments go to pytest: `bash tests/run.sh --slow` runs the slow ones too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
own_environment=yes extra=test
. examples/environment.sh
ruff check .
ruff format --check .
mypy
# One thread a process: the processes share the cores. A file's tests stay together, because they
# share what is expensive to make: parsers, a trained model.
OMP_NUM_THREADS=1 python -m pytest --numprocesses "$(nproc)" --dist loadfile -q "$@"
