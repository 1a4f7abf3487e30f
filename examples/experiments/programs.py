"""The programs that a workflow starts: fairseq's and ours, of the snapshot that runs already."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from syntax_nmt.errors import UserError

_SHOWN = 20  # lines of a log


def run_program(
    module: str,
    arguments: Sequence[str],
    log: Path,
    output: Path | None = None,
    keep_open: Sequence[int] = (),
) -> None:
    """Runs a module as a program.

    Args:
        module: such as `fairseq_cli.train`.
        arguments: of its command line.
        log: what it says is appended here.
        output: what it prints to stdout is written here; None = that goes to the log, too.
        keep_open: file descriptors that the program holds on to.

    Raises:
        UserError: it failed; the end of what it said has been printed to stderr.
    """
    command = [sys.executable, "-m", module, *arguments]
    with log.open("ab") as said, nullcontext(said) if output is None else output.open("wb") as out:
        start = said.tell()
        done = subprocess.run(command, stdout=out, stderr=said, pass_fds=keep_open)
    if done.returncode != 0:
        lines = log.read_bytes()[start:].decode(errors="replace").splitlines()
        print(*lines[-_SHOWN:], sep="\n", file=sys.stderr)
        raise UserError(f"{module} ended with status {done.returncode}: see {log}")


def fill(options: str, places: dict[str, str]) -> list[str]:
    """Options as a list, with the places put in; other braces stay as they are.

    Args:
        options: of a YAML, as on a command line.
        places: what stands for `{data}`, `{model}` and so on; an option that is empty then is none.
    """
    found = shlex.split(options)
    for name, value in places.items():
        found = [option.replace(f"{{{name}}}", value) for option in found]
    return [option for option in found if option]
