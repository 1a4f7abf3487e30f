"""Output of a command's text: to stdout, or to a file that is complete or absent."""

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
    """A UTF-8 stream to write to. A file gets its name when it is complete.

    Args:
        path: a file, whose folder is made; or `-` for stdout.

    Raises:
        UserError: the file cannot be written.
        SystemExit: the reader of stdout has closed it (`| head`).
    """
    if str(path) == STDOUT:
        yield from _stdout()
        return
    with write_atomically(Path(path)) as stream:
        yield stream


def write_lines(path: str | None, lines: Iterable[str], stdout_is_free: bool) -> None:
    """Writes the structures of a command, and computes them even if no output is requested.

    Args:
        path: as of :func:`open_output`; None = no path given.
        stdout_is_free: whether they then go to stdout.
    """
    if path is None and not stdout_is_free:
        for _ in lines:
            pass
        return
    with open_output(path or STDOUT) as stream:
        stream.writelines(lines)


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | Path | None]) -> None:
    """Checks before long work whether its results can be written.

    Args:
        outputs: files, `-` for stdout, None = no output.
        inputs: files that are read and must not change; None = no file.

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
    """stdout in UTF-8, flushed; its reader may close it early."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors=UNKNOWN_BYTES, newline="\n")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        raise SystemExit(1) from None
