"""The programs that jobs start: fairseq's and ours, of the snapshot that the jobs run in."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from syntax_nmt.data.text_files import write_bytes_atomically
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


def write_json(path: Path, content: Any) -> None:
    """Writes a file that is there as a whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_bytes_atomically(path, text.encode())


def fill(options: str, places: Mapping[str, str]) -> list[str]:
    """Options as a list, with what `{data}`, `{model}` and so on stand for.

    What stands for nothing, `{device}` of a GPU, is left out; an empty value, '', is kept.
    """
    found = []
    for option in shlex.split(options):
        filled = option
        for name, value in places.items():
            filled = filled.replace(f"{{{name}}}", value)
        if filled or not option:
            found.append(filled)
    return found
