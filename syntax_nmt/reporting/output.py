"""Output of a command's text: to stdout, or to a file that is complete or absent."""

import os
import select
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
    with ending_with_reader(), errors_of_stdout():
        yield sys.stdout
        sys.stdout.flush()


@contextmanager
def errors_of_stdout() -> Iterator[None]:
    """Names stdout in errors of writing to it, such as a full disk's.

    Raises:
        UserError: in place of such an error.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_stdout()
        reason = error.strerror or error
        raise UserError(f"stdout: cannot be written ({reason}): check where it goes") from error


@contextmanager
def ending_with_reader() -> Iterator[None]:
    """Ends the program without a word if the reader of stdout has closed it (`| head`).

    Raises:
        SystemExit: with status 1, in place of the error of writing to stdout.
    """
    try:
        yield
    except BrokenPipeError:
        if not _has_no_reader():
            raise
        _discard_stdout()
        raise SystemExit(1) from None


def tell(*said: object) -> None:
    """Prints what a command says of its result, which is whole even if nobody reads that.

    Raises:
        UserError: stdout cannot be written.
    """
    try:
        with errors_of_stdout():
            print(*said, flush=True)
    except BrokenPipeError:
        _discard_stdout()


def _has_no_reader() -> bool:
    """Whether stdout is a pipe or a socket that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _discard_stdout() -> None:
    """Sends what is still to be written, at the latest when the program ends, nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
