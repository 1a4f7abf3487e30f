"""Commands that end early: a full disk, no reader of stdout, Ctrl-C, SIGTERM; one line or none."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import started
from small_models import build, save_checkpoint

pytestmark = pytest.mark.dear

# As on a full disk: no file may have more bytes.
SMALL_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))
from syntax_nmt.cli import main
main()
"""


# Interrupted where a process of its own goes on, which Python would wait for at its end.
WITH_A_PROCESS = """
import multiprocessing, sys, time
from syntax_nmt import cli
from syntax_nmt.commands import user_dir

def interrupted(args):
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    child.start()
    print(child.pid)
    raise KeyboardInterrupt

if __name__ == "__main__":
    user_dir.run = interrupted
    cli.main()
"""


def is_running(process: int) -> bool:
    """Whether a process is there, and not only its exit status."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


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


def test_an_interrupted_command_waits_for_no_process_of_its_own(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(WITH_A_PROCESS)
    program = [sys.executable, str(script), "user-dir"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "syntax-nmt: error: interrupted\n")
    deadline = time.monotonic() + 10
    while is_running(int(done.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_examples_on_a_full_disk(tmp_path):
    said = f"syntax-nmt: error: {tmp_path}/examples: cannot be written (File too large): check"
    assert on_a_full_disk("examples", tmp_path).startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_on_a_full_disk(tmp_path):
    folder = tmp_path / "demo"
    said = f"syntax-nmt: error: {folder}: cannot be written (File too large): check the folder"
    assert on_a_full_disk("demo", folder).endswith(said)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("buffered", [True, False])
def test_stdout_on_a_full_disk(buffered):
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


def stopped(tmp_path, number, *arguments):
    """What a command writes to stderr that is sent a signal once it has begun to work."""
    process = started(
        *("-m", "syntax_nmt.cli", *arguments),
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        # What a shell starts in the background ignores Ctrl-C, and so do its children.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    waited = time.monotonic() + 120
    while not any(tmp_path.glob("made*/*")) and process.poll() is None:
        assert time.monotonic() < waited
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_one_line(tmp_path, number):
    line = stopped(tmp_path, number, "demo", "made", "--train", "200000")
    assert line == "syntax-nmt: error: interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_resumes_after_a_signal_says_so(tmp_path, number):
    for side in ("en", "de"):
        text = "".join(f"this is line {line}\n" for line in range(90_000))
        (tmp_path / f"raw.{side}").write_text(text, encoding="utf-8")
    command = ["prepare", "--source-lang", "en", "--target-lang", "de", "--no-parse"]
    command += ["--trainpref", "raw", "--destdir", "made"]
    line = stopped(tmp_path, number, *command)
    assert line == "syntax-nmt: error: interrupted: run the same command again; it resumes"
