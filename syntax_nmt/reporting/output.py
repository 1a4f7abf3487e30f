"""Where a command's text goes: stdout, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from syntax_nmt.data.text_files import UNKNOWN_BYTES, check_writable, write_atomically
from syntax_nmt.errors import UserError

STDOUT = "-"


@contextmanager
def open_output(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 stream to write to. A file takes its name when all of it is written.

    Args:
        path: a file, whose folder is made; or `-` for stdout.

    Raises:
        UserError: the file cannot be written.
        SystemExit: whoever read stdout has closed it (`| head`).
    """
    if str(path) == STDOUT:
        yield from _stdout()
        return
    with write_atomically(Path(path)) as stream:
        yield stream


def write_lines(path: str | None, lines: Iterable[str], stdout_is_free: bool) -> None:
    """Writes the structures that a command is about, and makes them even where nobody wants them.

    Args:
        path: as of :func:`open_output`; None = nobody said where.
        stdout_is_free: whether they go there where nobody said so.
    """
    if path is None and not stdout_is_free:
        for _ in lines:
            pass
        return
    with open_output(path or STDOUT) as stream:
        stream.writelines(lines)


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | Path | None]) -> None:
    """Finds out before long work whether its results can be written.

    Args:
        outputs: files, `-` for stdout, None for what is not wanted.
        inputs: files that are read and must stay; None for what is not given.

    Raises:
        UserError: an output cannot be written, is an input, or the same as another output.
    """
    outputs = list(outputs)
    if outputs.count(STDOUT) > 1:
        raise UserError("stdout cannot take two outputs: give all but one of them a file")
    given = [Path(path) for path in inputs if path]
    files = [Path(path) for path in outputs if path not in (None, STDOUT)]
    for index, path in enumerate(files):
        check_writable(path, *given)
        if path.resolve() in (other.resolve() for other in files[:index]):
            raise UserError(f"{path}: would be written twice: give each output a file of its own")


def _stdout() -> Iterator[TextIO]:
    """stdout in UTF-8, flushed; its reader may leave early."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors=UNKNOWN_BYTES, newline="\n")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the exit's own flush
        raise SystemExit(1) from None
