"""fairseq's and our own programs, run as a user runs them: in processes of their own."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import forked_programs

REPOSITORY = Path(__file__).resolve().parents[1]
USER_DIR = str(REPOSITORY / "syntax_nmt")


def run(
    *command: str | Path, cwd: Path | None = None, stdin: str = "", anew: bool = False
) -> subprocess.CompletedProcess[str]:
    """Runs a program by its module: `fairseq_cli.train`, `syntax_nmt.cli`, …

    Args:
        anew: imports all that it needs, for tests of this; programs are forked otherwise.
    """
    if not anew and str(command[0]).startswith(("fairseq_cli.", "syntax_nmt.")):
        return forked_programs.run(command, cwd, stdin)
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=stdin,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def succeed(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    """Runs a program that must succeed."""
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def refuse(*command: str | Path, **options) -> str:
    """Runs a program that must refuse, in one line and without a traceback; gives the line."""
    done = run(*command, **options)
    assert done.returncode != 0, f"{command} was accepted"
    assert "Traceback" not in done.stderr, done.stderr
    errors = [line for line in done.stderr.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stderr
    return errors[0]


@contextmanager
def in_a_program(name: str) -> Iterator[None]:
    """As in a process of `fairseq-NAME`, where mistakes end the process with one line."""
    with mock.patch.object(sys, "argv", [f"fairseq-{name}"]):
        yield


def syntax_nmt(*arguments: str | Path, **options) -> subprocess.CompletedProcess[str]:
    """The `syntax-nmt` command, which must succeed."""
    return succeed("syntax_nmt.cli", *arguments, **options)


def fairseq(program: str, data: Path, *arguments: str | Path) -> tuple[str | Path, ...]:
    """The command line of a fairseq program under our task; it starts no process to load data."""
    plugin = ("--user-dir", USER_DIR, "--task", "syntax_translation", "--num-workers", "0")
    return (f"fairseq_cli.{program}", data, *plugin, "--cpu", *arguments)


def started(*command: str | Path, **options) -> subprocess.Popen[str]:
    """A Python program in a session of its own, to be killed; what it prints is lost."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "text": True}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        **{**silent, "start_new_session": True, "env": environment, **options},
    )


def kill_all(job: subprocess.Popen[str], folder: Path) -> None:
    """Kills a program of :func:`started` and its programs; none holds the folder's lock any more.

    The kernel closes files of killed processes in no order: the first may be gone before the rest.
    """
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.close(handle)
