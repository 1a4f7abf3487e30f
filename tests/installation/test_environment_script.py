"""The example scripts: an environment that somebody made is checked and never changed."""

import os
import shutil
import subprocess
import sys

import pytest
from commands import REPOSITORY

pytestmark = pytest.mark.dear

SCRIPT = "set -euo pipefail; {before} . examples/environment.sh; echo went on"
OWN = "own_environment=yes;"


def sourced(cwd, before="", **environment):
    command = ["bash", "-c", SCRIPT.format(before=before)]
    path = {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={**path, **environment}
    )


@pytest.fixture
def copied(tmp_path):
    """The examples without a checkout, as `syntax-nmt examples` gives them."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    return tmp_path


def virtual_environment(folder):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return {"VIRTUAL_ENV": str(folder), "PATH": f"{folder}/bin:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("name", "before", "is_active"),
    [("mine", "", True), ("mine", OWN, True), (".venv", OWN, False)],
)
def test_an_environment_without_the_plugin_is_left_alone(copied, name, before, is_active):
    """One that is active, and a checkout's `.venv` that somebody made by hand."""
    shutil.copy(REPOSITORY / "setup.py", copied)
    environment = virtual_environment(copied / name)
    files = sorted((copied / name).rglob("*"))
    done = sourced(copied, before, **(environment if is_active else {}))
    assert done.returncode == 1
    assert f"the environment {copied / name} lacks syntax-nmt: install it there" in done.stderr
    assert sorted((copied / name).rglob("*")) == files


@pytest.mark.parametrize("before", ["", OWN])
def test_without_an_environment_nothing_is_made_beside_copies(copied, before):
    done = sourced(copied, before)
    assert done.returncode == 1
    assert "no environment is active: activate the one that has syntax-nmt" in done.stderr
    assert not (copied / ".venv").exists()


def test_an_environment_that_has_everything_is_used(copied):
    environment = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.defpath}"}
    done = sourced(copied, "extra=test;", **environment)
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr


# Stands for every python: keeps what pip is given, and an environment is a folder of this script.
PYTHON = """#!/bin/bash
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"
             echo "PATH=$3/bin:$PATH" >"$3/bin/activate" ;;
  "-m pip") shift 2; echo "$*" >>"$HOME/pip.log"
            if [ -f "$HOME/firewall" ] && [[ "$*" = *"--index-url"* ]]; then
              echo "WARNING: no route to host" >&2; exit 1
            fi ;;
  "--version "*) echo "Python $(cat "$HOME/version" 2>/dev/null || echo 3.12.1)" ;;
  "-I "*) cat >/dev/null ;;
  "-c import platform"*) exit 1 ;;  # there is a binary of fairseq for it
  "-c import importlib.util"*)
    ! [ -f "$HOME/broken" ] || grep -qs "uninstall.* torchaudio" "$HOME/pip.log" ;;
esac
"""


def installed(copied, has_gpu=False, name="python3.12", **environment):
    """What a new checkout's first command prints, with these programs."""
    shutil.copy(REPOSITORY / "setup.py", copied)
    shutil.copy(REPOSITORY / "constraints.txt", copied)
    programs = {name: PYTHON, "nvidia-smi": f"#!/bin/bash\nexit {int(not has_gpu)}\n"}
    (copied / "bin").mkdir()
    for name, text in programs.items():
        (copied / "bin" / name).write_text(text)
        (copied / "bin" / name).chmod(0o755)
    return sourced(copied, OWN, PATH=f"{copied}/bin:/usr/bin:/bin", **environment)


def test_behind_a_firewall_one_line_tells_of_the_other_torch(copied):
    (copied / "firewall").touch()
    done = installed(copied)
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("environment: torch's CPU build cannot be had")
    assert "--retries 0 " in (copied / "pip.log").read_text().splitlines()[0]


@pytest.mark.parametrize(("version", "said"), [("3.12.1", False), ("3.11.9", True)])
def test_compiling_is_announced(copied, version, said):
    (copied / "version").write_text(version)
    assert ("compiled for others, about 4 minutes" in installed(copied).stdout) is said


def test_python_chooses_the_python(copied):
    done = installed(copied, name="chosen", PYTHON="chosen")
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr


def test_a_python_that_cannot_be_used_is_named(copied):
    done = installed(copied, PYTHON="python2.7")
    assert done.returncode == 1
    assert "PYTHON=python2.7 is no Python from 3.10 to 3.13" in done.stderr
    assert not (copied / ".venv").exists()


def test_a_torchaudio_that_does_not_load_is_left_out(copied):
    """fairseq asks for it; its usual build needs the CUDA that a CPU's torch does not have."""
    done = installed(copied)
    assert "uninstall" not in (copied / "pip.log").read_text()
    assert done.stderr == ""
    shutil.rmtree(copied / ".venv")
    shutil.rmtree(copied / "bin")
    (copied / "broken").touch()
    done = installed(copied)
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr
    uninstall = (copied / "pip.log").read_text().splitlines()[-1]
    assert uninstall == "uninstall --quiet --quiet --yes torchaudio"
    assert done.stderr == ""


def test_a_torchaudio_of_an_environment_that_somebody_made_is_told_of(copied):
    (copied / "broken").touch()
    (copied / "bin").mkdir()
    (copied / "bin" / "python").write_text(PYTHON)
    (copied / "bin" / "python").chmod(0o755)
    done = sourced(copied, VIRTUAL_ENV=f"{copied}/mine", PATH=f"{copied}/bin:/usr/bin:/bin")
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith(f"environment: {copied}/mine has a torchaudio that does not load")
    assert line.endswith("python -m pip uninstall torchaudio")


@pytest.mark.parametrize("has_gpu", [False, True])
def test_without_a_gpu_torch_comes_as_its_cpu_build(copied, has_gpu):
    done = installed(copied, has_gpu)
    assert done.stdout.splitlines()[-1:] == ["went on"], done.stderr
    torch, *others = (copied / "pip.log").read_text().splitlines()
    if not has_gpu:
        assert "--index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu" in torch
        assert "torch==2.13.0\n" in (copied / "constraints.txt").read_text()
        torch, *others = others
    assert "torch numpy" in torch
    for line in (torch, *others):
        assert f"--constraint {copied}/constraints.txt" in line
        assert "--index-url" not in line
