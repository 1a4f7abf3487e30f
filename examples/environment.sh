# Sourced by quickstart.sh and tests/run.sh: leaves an environment active that holds the plugin.
#
# An environment that is active already is used as it is, and what is missing is installed into it.
# Otherwise .venv of the checkout is made, once, from Python 3.11 or 3.12.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  echo "environment: error: $*" >&2
  exit 1
}

is_right_version() {
  "$1" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null
}

find_python() {
  local candidate
  for candidate in python3.11 python3.12 python3 python; do
    if is_right_version "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  fail "found neither Python 3.11 nor 3.12; install one of them (python3.11 on the PATH is enough)"
}

make_environment() {
  local python
  python=$(find_python) || exit 1
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python cannot make environments; install its venv package (Debian: python3-venv)"
  echo "making $repository/.venv with $("$python" --version)"
  "$python" -m venv "$repository/.venv"
}

# Everything that is installed is fixed by these two files: unchanged files, nothing to do.
wanted() {
  cat "$repository/setup.py" "$repository/constraints.txt" | cksum
}

install() {
  command -v git >/dev/null || fail "git is missing; install it"
  command -v c++ >/dev/null || command -v g++ >/dev/null ||
    fail "a C++ compiler is missing, which fairseq is built with; install one (Debian: g++)"
  [ -f "$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    fail "Python's headers are missing, which fairseq is built with (Debian: python3-dev)"
  local pip=(python -m pip install --quiet --quiet --disable-pip-version-check)
  pip+=(--constraint "$repository/constraints.txt")
  echo "installing into $(python -c 'import sys; print(sys.prefix)') (some minutes the first time)"
  # fairseq is built here, not in an environment of its own, which would fetch a second torch; and
  # without CUDA_HOME, because it would look there for sources that it does not ship.
  "${pip[@]}" torch numpy setuptools wheel cython
  env -u CUDA_HOME "${pip[@]}" --no-build-isolation --editable "$repository[test]"
}

active=${VIRTUAL_ENV:-}
# conda's base is active for some at all times, and is no place to install into.
[ "${CONDA_DEFAULT_ENV:-base}" = base ] || active=${CONDA_PREFIX:-}
if [ -z "$active" ]; then
  [ -f "$repository/.venv/bin/activate" ] || make_environment
  # shellcheck source=/dev/null
  . "$repository/.venv/bin/activate"
fi
is_right_version python ||
  fail "the active environment has $(python --version 2>&1); activate one of Python 3.11 or 3.12"
stamp=$(python -c 'import sys; print(sys.prefix)')/syntax_nmt.installed
if [ "$(cat "$stamp" 2>/dev/null)" != "$(wanted)" ]; then
  install
  wanted >"$stamp"
fi
