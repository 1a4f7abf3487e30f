"""fairseq's programs in processes that need no time to start: forked where all is imported."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch

# A server imports fairseq once and is forked for every process; it runs nothing itself.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["fairseq_cli.train", "syntax_nmt", "forked_training"])


def start(command: Sequence[str | Path], log: Path) -> BaseProcess:
    """Starts a program by the command line that `commands.fairseq` gives."""
    process = SERVER.Process(target=main, args=([str(part) for part in command], str(log)))
    process.start()
    return process


def main(command: Sequence[str], log: str) -> None:
    """What the process does: the program, its output in a file."""
    redirect(log)
    sys.argv = list(command)
    importlib.import_module(command[0]).cli_main()


def redirect(log: str) -> None:
    """Sends the output of this process to the end of a file."""
    torch.set_num_threads(1)
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(target, stream)
    os.close(target)


def finished(command: Sequence[str | Path], log: Path) -> str:
    """Runs to the end, which must be a good one; gives the output of this run."""
    before = size(log)
    process = start(command, log)
    process.join()
    output = log.read_text(encoding="utf-8")[before:]
    assert process.exitcode == 0, output[-3000:]
    return output


def refused(command: Sequence[str | Path], log: Path) -> str:
    """Runs a program that must refuse, in one line and without a traceback; gives the line."""
    before = size(log)
    process = start(command, log)
    process.join()
    output = log.read_text(encoding="utf-8")[before:]
    assert process.exitcode == 1, output[-3000:]
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
