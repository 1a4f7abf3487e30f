#!/usr/bin/env bash
# Style, types and tests. Arguments go to pytest: `bash tests/run.sh --slow` runs the slow ones too.
# With --fast first only what tells most of a change, in about a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
own_environment=yes extra=test
. examples/environment.sh
ruff check .
ruff format --check .
mypy
if [ "${1:-}" = --fast ]; then
  shift
  set -- tests/{backbone,methods,criterions,task,data,test_import_order.py} \
    tests/properties/test_{batch_invariance,causality}.py \
    -k "not (craft or treebanks or time_is_linear)" "$@"
fi
# One thread a process: the processes share the cores. A file's tests stay together, because they
# share what is expensive to make: parsers, a trained model.
OMP_NUM_THREADS=1 python -m pytest --numprocesses "$(nproc)" --dist loadfile -q "$@"
