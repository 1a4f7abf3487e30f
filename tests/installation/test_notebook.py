"""The notebook runs from its first cell to its last."""

import ast
import importlib
import json
import os
import subprocess
import sys

import pytest
from commands import REPOSITORY

pytestmark = pytest.mark.dear

NOTEBOOK = REPOSITORY / "examples" / "structures.ipynb"


def code() -> str:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def run(source, cwd):
    path = f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"},
    )


def test_what_it_imports_is_there():
    for node in ast.walk(ast.parse(code())):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, each.name) for each in node.names), node.module


@pytest.mark.slow
def test_runs(tmp_path):
    done = run(code().replace("updates = 1200", "updates = 20"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "the model chooses no chunks" in done.stdout
    assert "╼" in done.stdout
