"""Commands whose disk is full, or whose stdout nobody reads: one line or none, nothing halved."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_models import build, save_checkpoint

pytestmark = pytest.mark.dear

# As on a full disk: no file may have more bytes.
SMALL_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
from syntax_nmt.cli import main
main()
"""


def on_a_full_disk(*arguments: str | Path) -> str:
    """The only line that a command says, which must fail."""
    program = [sys.executable, "-c", SMALL_FILES, *map(str, arguments)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    return line


def unread(*arguments: str | Path, buffered: bool) -> tuple[int, str]:
    """The exit status and stderr of a command whose stdout is closed at the other end."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-m", "syntax_nmt.cli", *map(str, arguments)]
    done = subprocess.run(
        program, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment
    )
    os.close(writing)
    return done.returncode, done.stderr


def test_examples(tmp_path):
    said = f"syntax-nmt: error: {tmp_path}/examples: cannot be written (File too large): check"
    assert on_a_full_disk("examples", tmp_path).startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_demo(tmp_path):
    folder = tmp_path / "demo"
    said = f"syntax-nmt: error: {folder}: cannot be written (File too large): check the folder"
    assert on_a_full_disk("demo", folder).endswith(said)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("buffered", [True, False])
def test_stdout(buffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    program = [sys.executable, "-m", "syntax_nmt.cli", "user-dir"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            program, stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert done.returncode == 1
    said = "stdout: cannot be written (No space left on device): check where it goes\n"
    assert done.stderr == f"syntax-nmt: error: {said}"


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("command", ["options", "user-dir"])
def test_what_is_written_to_stdout_ends_with_its_reader(command, buffered):
    assert unread(command, buffered=buffered) == (1, "")


def test_what_is_written_to_files_is_done(prepared, tmp_path):
    model, _, cfg = build(prepared.data, "dependency_transformer")
    checkpoint = save_checkpoint(tmp_path / "model.pt", model, cfg)
    output = ("--output", tmp_path / "averaged.pt")
    assert unread("average", checkpoint, *output, buffered=False) == (0, "")
    assert output[1].is_file()
    output = ("--output", tmp_path / "exported")
    export = ("export", checkpoint, "--data", prepared.folder, "--to", "fairseq", *output)
    assert unread(*export, buffered=False) == (0, "")
    assert (tmp_path / "exported" / "model.pt").is_file()
    assert unread("examples", tmp_path, buffered=False) == (0, "")
    folder = tmp_path / "out"
    prepare = ("prepare", "--source-lang", "src", "--target-lang", "tgt", "--no-parse")
    prepare += ("--trainpref", prepared.corpus / "train", "--vocab-size", "500")
    for _ in range(2):
        status, said = unread(*prepare, "--destdir", folder, buffered=False)
        assert status == 0
        assert "roken" not in said
