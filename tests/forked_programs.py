"""fairseq's programs and ours, in processes forked where all is imported: quick to start."""

import importlib
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess

import torch

# A server imports fairseq once and is forked for every process; it runs nothing itself. The plugin
# is not there: fairseq's programs import it by --user-dir, ours as their own.
SERVER = multiprocessing.get_context("forkserver")
PROGRAMS = ("train", "preprocess", "generate", "interactive", "validate", "eval_lm")
SERVER.set_forkserver_preload([f"fairseq_cli.{name}" for name in PROGRAMS])


def run(command: Sequence[str | Path], cwd: Path | None, stdin: str) -> CompletedProcess[str]:
    """Runs a program to its end, as `subprocess.run` does."""
    words = [str(part) for part in command]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(stdin, encoding="utf-8")
        names = [str(file) for file in files]
        process = SERVER.Process(target=_standing_alone, args=(words, cwd, names, dict(os.environ)))
        process.start()
        process.join()
        out, err = (file.read_text(encoding="utf-8") for file in files[1:])
    return CompletedProcess(words, process.exitcode, out, err)


def _standing_alone(
    command: Sequence[str], cwd: Path | None, files: Sequence[str], environment: dict[str, str]
) -> None:
    """What the process does: the program, with files as its streams."""
    torch.set_num_threads(1)
    os.environ.clear()
    os.environ.update(environment)
    for stream, (name, mode) in enumerate(
        zip(files, (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT))
    ):
        opened = os.open(name, mode, 0o644)
        os.dup2(opened, stream)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8")  # a forked process has none
    if cwd is not None:
        os.chdir(cwd)
    _run(command)


def _run(command: Sequence[str]) -> None:
    """A program under the name that its script has."""
    module, *arguments = command
    name = module.replace("fairseq_cli.", "fairseq-").replace("syntax_nmt.cli", "syntax-nmt")
    sys.argv = [name, *arguments]
    program = importlib.import_module(module)
    (program.main if module.startswith("syntax_nmt.") else program.cli_main)()


def start(command: Sequence[str | Path], log: Path) -> BaseProcess:
    """Starts a program by the command line that `commands.fairseq` gives."""
    process = SERVER.Process(target=main, args=([str(part) for part in command], str(log)))
    process.start()
    return process


def main(command: Sequence[str], log: str) -> None:
    """What the process does: the program, its output in a file."""
    redirect(log)
    _run(command)


def redirect(log: str) -> None:
    """Sends the output of this process to the end of a file."""
    torch.set_num_threads(1)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.close(target)


def finished(command: Sequence[str | Path], log: Path, status: int = 0) -> str:
    """Runs to the end, which must be a good one; gives the output of this run."""
    before = size(log)
    process = start(command, log)
    process.join()
    output = log.read_text(encoding="utf-8")[before:]
    assert process.exitcode == status, output[-3000:]
    return output


def refused(command: Sequence[str | Path], log: Path) -> str:
    """Runs a program that must refuse, in one line and without a traceback; gives the line."""
    output = finished(command, log, status=1)
    assert "Traceback" not in output, output[-3000:]
    (error,) = [line for line in output.splitlines() if "error: " in line]
    return error


def killed(
    command: Sequence[str | Path], log: Path, moment: Callable[[str], bool], delay: float = 0.0
) -> bool:
    """Kills a program (SIGKILL) some seconds after its output fulfils a condition.

    Whether it was killed: it may end of itself before, well.
    """
    before = size(log)
    process = start(command, log)
    while process.is_alive() and not moment(text_from(log, before)):
        time.sleep(0.002)
    process.join(delay)
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), text_from(log, before)[-3000:]
    return process.exitcode != 0


def size(log: Path) -> int:
    """Characters that a log has by now."""
    return len(text_from(log, 0))


def text_from(log: Path, begin: int) -> str:
    """What a log has from a position on."""
    return log.read_text(encoding="utf-8", errors="ignore")[begin:] if log.is_file() else ""
