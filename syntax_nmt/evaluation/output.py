"""Where a command's text goes: stdout, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

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
    path = Path(path)
    partial = path.with_name(f"{path.name}.partial{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
        os.replace(partial, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def _stdout() -> Iterator[TextIO]:
    """stdout in UTF-8, flushed; its reader may leave early."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the exit's own flush
        raise SystemExit(1) from None
