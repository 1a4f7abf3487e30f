"""Scripts of `examples/` take any folder's name and write nothing outside; the notebook runs."""

import ast
import importlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from commands import REPOSITORY

SCRIPTS = ("quickstart.sh", "latent/ablation.sh", "pictures/draw.sh", "linearised/builtin.sh")
# Stands for each program: fails in all but what the scripts ask for their settings.
STUB = '#!/bin/sh\n[ "$1" = user-dir ] || { echo begun; exit 3; }\n'
PROGRAMS = ("syntax-nmt", "fairseq-train", "fairseq-preprocess", "fairseq-generate")


@pytest.fixture
def checkout(tmp_path):
    """The scripts alone, with an environment that is taken for one that has all."""
    folder = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "examples", folder / "examples", ignore=_no_results)
    environment = folder / "examples" / "environment.sh"
    environment.chmod(0o644)
    environment.write_text("")
    (folder / "bin").mkdir()
    for name in PROGRAMS:
        (folder / "bin" / name).write_text(STUB)
        (folder / "bin" / name).chmod(0o755)
    return folder


def _no_results(folder, names):
    return [name for name in names if name in ("results", "__pycache__")]


def run(checkout, script, folder):
    """The script, called from elsewhere, up to its first program; and what is new there."""
    here = checkout.parent / "here"
    here.mkdir(exist_ok=True)
    before = sorted(path.name for path in here.iterdir())
    environment = {**os.environ, "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}"}
    command = ["bash", str(checkout / "examples" / script), folder]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert {path.name for path in checkout.iterdir()} == {"bin", "examples"}
    return done, {path.name for path in here.iterdir()} - set(before)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("folder", ["-p", "--help", "two words", "$HOME", "*"])
def test_any_name_is_a_folder(checkout, script, folder):
    done, made = run(checkout, script, folder)
    assert made == {folder}
    assert "illegal option" not in done.stderr
    assert "invalid option" not in done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_file_ends_it_before_anything_is_written(checkout, script):
    (checkout.parent / "here").mkdir()
    (checkout.parent / "here" / "file").write_text("mine")
    done, made = run(checkout, script, "file")
    assert not made
    assert "file" in done.stderr
    assert not done.stdout  # no program was started


NOTEBOOK = REPOSITORY / "examples" / "structures.ipynb"


def notebook_code() -> str:
    """All cells of the notebook."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def execute(source, cwd):
    path = f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.dear
def test_what_the_notebook_imports_is_there():
    for node in ast.walk(ast.parse(notebook_code())):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, each.name) for each in node.names), node.module


@pytest.mark.dear
@pytest.mark.slow
def test_the_notebook_runs(tmp_path):
    done = execute(notebook_code().replace("updates = 1200", "updates = 20"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "the model chooses no chunks" in done.stdout
    assert "╼" in done.stdout
