# Sourced by the example scripts and tests/run.sh: leaves an environment active that has the plugin.
#
# An environment that somebody made is checked and never changed. Scripts of a checkout that set
# own_environment=yes beforehand make one, .venv, where none is active, and install into it;
# extra=test adds what the tests need. The other scripts use it, too.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
own=$repository/.venv
mark=$own/made_by_syntax_nmt

fail() {
  echo "environment: error: $*" >&2
  exit 1
}

is_right_version() {
  "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'
}

find_python() { # $PYTHON, or 3.12 first: there is a binary of fairseq-fixed for it
  local candidate said
  for candidate in ${PYTHON:-python3.12 python3.11 python3.13 python3.10 python3 python}; do
    if said=$(is_right_version "$candidate" 2>&1); then
      echo "$candidate"
      return
    fi
  done
  [ -z "${PYTHON:-}" ] || fail "PYTHON=$PYTHON is no Python from 3.10 to 3.13${said:+ (${said//$'\n'/ })}: name \
one, or unset it"
  fail "found no Python from 3.10 to 3.13; install one (python3.12 on the PATH is enough)"
}

make_environment() {
  local python
  python=$(find_python) || exit 1
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python cannot make environments; install its venv package (Debian: python3-venv)"
  echo "making $own with $("$python" --version)"
  [[ $("$python" --version) = *" 3.12."* ]] ||
    echo "fairseq has a binary for Python 3.12 alone and is compiled for others, about 4 minutes:" \
      "to save them, put python3.12 on the PATH before this$(
        command -v uv >/dev/null && echo ' (uv python install 3.12)' || true
      )"
  "$python" -m venv "$own"
  touch "$mark"
}

check_compiler() {
  python -c 'import platform, sys
sys.exit(sys.version_info[:2] == (3, 12) and platform.machine() == "x86_64")' || return 0
  command -v c++ >/dev/null || command -v g++ >/dev/null ||
    fail "a C++ compiler is missing, which fairseq is built with; install one (Debian: g++)"
  [ -f "$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    fail "Python's headers are missing, which fairseq is built with (Debian: python3-dev)"
}

install_cpu_torch() { # without a GPU 0.2 GB to download in place of several
  # One try, in silence: behind a firewall the packages' usual source has torch, too.
  python -m pip install --quiet --disable-pip-version-check --no-deps --retries 0 --timeout 10 \
    --index-url https://download.pytorch.org/whl/cpu \
    "torch==$(sed -n 's/^torch==//p' "$repository/constraints.txt")+cpu" >"$own/cpu_torch.log" 2>&1 ||
    echo "environment: torch's CPU build cannot be had ($own/cpu_torch.log says why): taking the one \
with CUDA, several GB" >&2
}

install() {
  check_compiler
  local pip=(python -m pip install --quiet --quiet --disable-pip-version-check)
  # The constraints have no versions for 3.10.
  python -c 'import sys; sys.exit(sys.version_info < (3, 11))' &&
    pip+=(--constraint "$repository/constraints.txt")
  echo "installing into $own (some minutes the first time)"
  : >"$own/cpu_torch.log"
  echo "torch"
  nvidia-smi -L >/dev/null 2>&1 || install_cpu_torch
  # fairseq is built here, not in an environment of its own, which would fetch a second torch; and
  # without CUDA_HOME, because it would look there for sources that it does not ship.
  "${pip[@]}" torch numpy setuptools wheel cython ||
    { cat "$own/cpu_torch.log" >&2; fail "torch cannot be installed: what pip says is above"; }
  echo "fairseq, stanza and the other packages"
  # As a line of a .pth file (compat) it is found in the folder that holds the checkout, too, where
  # Python would take the checkout for a package without a file.
  env -u CUDA_HOME "${pip[@]}" --no-build-isolation --config-settings editable_mode=compat \
    --editable "$repository${extra:+[$extra]}"
  # fairseq asks for it, text does not need it, and its usual build wants CUDA's torch; transformers
  # (the benchmark's peer) cannot be imported beside one that does not load.
  torchaudio_loads || python -m pip uninstall --quiet --quiet --yes torchaudio
}

torchaudio_loads() { # or is not there
  python -c 'import importlib.util
if importlib.util.find_spec("torchaudio"): import torchaudio' >/dev/null 2>&1
}

# Prints what an environment lacks of the plugin's requirements, one a line.
missing() {
  python -I - "${extra:-}" <<'PYTHON'
import importlib.metadata as metadata
import sys

try:
    from packaging.requirements import Requirement

    wanted = [*map(Requirement, metadata.requires("syntax-nmt") or ())]
except (ImportError, metadata.PackageNotFoundError):
    sys.exit("syntax-nmt")
for requirement in wanted:
    if requirement.marker is None or requirement.marker.evaluate({"extra": sys.argv[1]}):
        try:
            version = metadata.version(requirement.name)
            there = requirement.specifier.contains(version, prereleases=True)
        except metadata.PackageNotFoundError:
            there = False
        if not there:
            print(f"{requirement.name}{requirement.specifier}")
PYTHON
}

check_environment() { # PREFIX
  is_right_version python 2>/dev/null ||
    fail "the environment $1 has $(python --version 2>&1); activate one of Python 3.10 to 3.13"
  local lacks
  lacks=$(missing 2>&1) || true
  [ -z "$lacks" ] ||
    fail "the environment $1 lacks ${lacks//$'\n'/, }: install it there as README.md says under \
Two commands, or deactivate the environment, and a checkout's examples/quickstart.sh makes one"
  torchaudio_loads || echo "environment: $1 has a torchaudio that does not load beside its torch, \
and transformers does not either then: python -m pip uninstall torchaudio" >&2
}

active=${VIRTUAL_ENV:-}
# conda's base is active for some at all times, and is not meant.
[ "${CONDA_DEFAULT_ENV:-base}" = base ] || active=${CONDA_PREFIX:-}
if [ -z "$active" ]; then
  if [ ! -f "$own/bin/activate" ]; then
    [ "${own_environment:-}" = yes ] && [ -f "$repository/setup.py" ] ||
      fail "no environment is active: activate the one that has syntax-nmt (a checkout's \
examples/quickstart.sh makes one)"
    make_environment
  fi
  # shellcheck source=/dev/null
  . "$own/bin/activate"
  active=$own
fi
if [ "${own_environment:-}" = yes ] && [ "$active" -ef "$own" ] && [ -f "$mark" ]; then
  # Everything that is installed is fixed by these two files: unchanged files, nothing to do.
  wanted=$(cat "$repository/setup.py" "$repository/constraints.txt" | cksum)
  if ! grep -qsx "$wanted ${extra:-.*}" "$mark"; then
    install
    echo "$wanted ${extra:-}" >"$mark"
  fi
fi
check_environment "$active"
