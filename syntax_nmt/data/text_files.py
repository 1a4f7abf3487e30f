"""Files: reads text and JSON with one-line errors, writes atomically, computes checksums."""

import errno
import gzip
import hashlib
import io
import json
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, TextIO, cast

from syntax_nmt.errors import UserError

_ENCODING = "utf-8-sig"  # a byte order mark at the beginning is no part of the text
BYTE_ORDER_MARK = "\ufeff"


# How text is opened that is translated while it comes: invalid UTF-8 is passed on, so that an error
# can name its line.
AS_TYPED: dict[str, Any] = {"encoding": _ENCODING, "errors": "surrogateescape", "newline": "\n"}


# A file's name may have bytes that are not UTF-8. They are written as `\udcff`, as in JSON.
UNKNOWN_BYTES = "backslashreplace"


_BLOCK = 1 << 20


def open_bytes(path: str | Path) -> BinaryIO:
    """Opens a file for reading; a name ending in `.gz` is decompressed on the fly.

    Raises:
        UserError: the file is missing or not readable.
    """
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        return cast(BinaryIO, opener(path, "rb"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}): check the path") from error


def open_text(path: str | Path, start: int = 0) -> IO[str]:
    """Opens a UTF-8 text file for reading; a name ending in `.gz` is decompressed on the fly.

    Only a newline ends a line. If a carriage return or another Unicode separator did, too, all
    later sentences would be shifted against those of the other side.

    Args:
        start: position in bytes of the line to begin with; of a `.gz` file, in its content.

    Raises:
        UserError: the file is missing or not readable.
    """
    stream = open_bytes(path)
    if start:
        stream.seek(start)
    # A byte order mark stands at the beginning alone.
    encoding = "utf-8" if start else _ENCODING
    return io.TextIOWrapper(stream, encoding=encoding, newline="\n")


def read_lines(path: str | Path, start: int = 0) -> Iterator[str]:
    """The lines of a text file, one at a time, without the newline and a carriage return before it.

    Args:
        path: the file, plain or `.gz`; lines end as :func:`open_text` says.
        start: position in bytes of the line to begin with; of a `.gz` file, in its content.

    Raises:
        UserError: the file cannot be read, is not UTF-8, or is a truncated gzip file.
    """
    number = 0
    try:
        with open_text(path, start) as stream:
            for line in stream:
                number += 1
                yield line.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise not_utf8(path, _undecodable_line(path), error) from error
    except OF_GZIP as error:
        raise damaged_gzip(path, number + 1, error) from error


def not_utf8(path: str | Path, line: int, error: UnicodeDecodeError) -> UserError:
    """The message for a file of another encoding."""
    return UserError(
        f"{path}:{line}: not UTF-8 ({error.reason}): convert the file, for instance with iconv"
    )


OF_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading a `.gz` file raises that is damaged."""


def damaged_gzip(path: str | Path, line: int, error: Exception) -> UserError:
    """The message for a `.gz` file that cannot be read to its end."""
    return UserError(
        f"{path}:{line}: the gzip file is damaged or truncated ({error}): fetch or write it again"
    )


def line_starts(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file in bytes, each after the position of its first byte.

    Raises:
        UserError: the file cannot be read, or is a truncated gzip file.
    """
    position = number = 0
    try:
        with open_bytes(path) as stream:
            for line in stream:
                number += 1
                yield position, line
                position += len(line)
    except OF_GZIP as error:
        raise damaged_gzip(path, number + 1, error) from error


def _undecodable_line(path: str | Path) -> int:
    """Finds the line of a decoding error; the decoder works on blocks."""
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def find_text(path: str | Path) -> Path | None:
    """The file itself, or the same name with `.gz`, or None if neither exists.

    Args:
        path: the name without `.gz`.
    """
    for candidate in (Path(path), Path(f"{path}.gz")):
        if candidate.is_file():
            return candidate
    return None


def check_regular(path: str | Path) -> None:
    """Refuses what would be read without an end: a pipe, a device; for files that others made.

    Raises:
        OSError: it is no regular file, nor a link to one, or is missing.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "no regular file", str(path))


def refuse_pipe(path: str | Path) -> None:
    """Refuses a file that can be read only once but must be read again.

    Raises:
        UserError: it is no regular file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: is read more than once: give a file, not a pipe")


@contextmanager
def write_atomically(path: Path) -> Iterator[TextIO]:
    """A text file to write to, which gets its name only when it is complete.

    Args:
        path: the final name; its folder is made. After an exception the old file remains. A link is
            kept and its target replaced; a device or a pipe is written directly.

    Raises:
        UserError: the file cannot be written.
    """
    options = {"encoding": "utf-8", "errors": UNKNOWN_BYTES, "newline": "\n"}
    with _open_output(path, "w", **options) as stream:
        yield stream


@contextmanager
def write_binary_atomically(path: Path) -> Iterator[BinaryIO]:
    """A binary file to write to, otherwise as :func:`write_atomically`.

    Raises:
        UserError: the file cannot be written.
    """
    with _open_output(path, "wb") as stream:
        yield stream


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Writes a binary file like :func:`write_atomically`.

    Raises:
        UserError: the file cannot be written.
    """
    with write_binary_atomically(path) as stream:
        stream.write(content)


def write_unless_same(path: Path, text: str) -> None:
    """Writes a text like :func:`write_atomically`, unless the file has it already: its folder may
    be read-only.

    Raises:
        UserError: the file cannot be written.
    """
    content = text.encode("utf-8", UNKNOWN_BYTES)
    if not path.is_file() or path.read_bytes() != content:
        write_bytes_atomically(path, content)


@contextmanager
def _open_output(path: Path, mode: str, **text: Any) -> Iterator[Any]:
    """A stream to write to, whose content becomes that of `path` unless there is an exception."""
    with errors_in_writing(path):
        target = followed(path)
    partial = target.with_name(f"{target.name}.partial{os.getpid()}")
    try:
        straight = _written_straight(path)
        if straight is not None:
            sys.stdout.flush()  # earlier output comes first
            with open(straight, mode, closefd=straight is path, **text) as stream:
                yield stream
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, mode, **text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, target)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with suppress(OSError):  # the file or its folder may not exist
            partial.unlink()


def followed(path: Path) -> Path:
    """Where links lead.

    Raises:
        OSError, RuntimeError: in a circle.
    """
    target = path.resolve()
    if target.is_symlink():  # Python 3.13 stops in the circle without an error
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


@contextmanager
def errors_in_writing(path: str | Path) -> Iterator[None]:
    """Gives errors of the system without a file's name, as a full disk's, the name of what is
    written.

    Args:
        path: of a file or folder, for messages.

    Raises:
        UserError: in place of such an error.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        if getattr(error, "filename", None) is not None:
            raise
        raise _unwritten(path, error) from error


def _unwritten(path: str | Path, error: OSError | RuntimeError) -> Exception:
    """The error to raise: torch's writer hides that of the disk behind its own."""
    cause = error if isinstance(error, OSError) else error.__context__
    if not isinstance(cause, OSError):
        return error
    return UserError(f"{path}: cannot be written ({cause.strerror or cause}): check the folder")


def _written_straight(path: Path) -> Path | int | None:
    """A device or a pipe, or the stream of this process that a path such as /dev/stdout names.

    The stream may go to a file; if that were replaced, other output there would be lost.
    """
    if not path.exists() or path.is_dir():
        return None
    for stream in (1, 2):
        with suppress(OSError):  # it is closed
            if os.path.samestat(os.fstat(stream), path.stat()):
                return stream
    return None if path.is_file() else path


def check_writable(path: Path, *inputs: Path) -> None:
    """Checks before long work whether its result can be written.

    Args:
        path: a text file to write, uncompressed; folders above it may be missing, and are not made.
            A device or a pipe is not checked.
        *inputs: the files that it is made from.

    Raises:
        UserError: the path is a folder or one of the inputs, ends in `.gz`, or its folder cannot be
            made or written to.
    """
    if path.suffix == ".gz":
        raise UserError(f"{path}: written uncompressed: give a name without .gz")
    if _written_straight(path) is not None:
        return
    if any(path.resolve() == given.resolve() for given in inputs):
        raise UserError(f"{path}: is the input as well, and would be lost: give another output")
    if path.is_dir():
        raise UserError(f"{path}: cannot be written (it is a folder): give the name of a file")
    try:
        folder = path.resolve().parent
        while not folder.exists():
            folder = folder.parent
        # Permissions do not show that a file system is full or read-only.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written ({error.strerror}): check the folder or give another"
        ) from error


def portable_path(target: Path, folder: Path) -> str:
    """A path for a file in a folder: relative below the folder, absolute elsewhere.

    Args:
        folder: the folder, which may be moved as a whole.
    """
    absolute, base = Path(os.path.abspath(target)), Path(os.path.abspath(folder))
    return str(absolute.relative_to(base) if absolute.is_relative_to(base) else absolute)


def named_file(folder: Path, name: Any) -> Path:
    """A file of a folder that another file of the folder names.

    What a folder says of itself may come from somebody else, and must not lead out of it. Links
    are followed.

    Args:
        name: relative to the folder.

    Raises:
        UserError: it is no name of a regular file below the folder.
    """
    parts = PurePath(name).parts if type(name) is str else ()
    if not parts or PurePath(name).is_absolute() or ".." in parts:
        raise UserError(f"names {str(name)[:80]!r}, which is no file below {folder}")
    if not os.path.isfile(folder / name):  # Path's own stops at a name that is too long
        raise UserError(f"names {name[:80]!r}, which is not in {folder}")
    return folder / name


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def read_json(path: str | Path) -> Any:
    """The value in a JSON file.

    Raises:
        OSError: the file cannot be read, or is no regular file.
        ValueError: it is not UTF-8, no JSON, or nested too deeply to be read.
    """
    check_regular(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json(text: str, path: str | Path, wanted: str) -> Any:
    """The value of a JSON text.

    Args:
        path: of the file, for messages.
        wanted: what to give instead, for messages ("the whole record").

    Raises:
        UserError: the text is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", "nested too deeply, or a number too long")
        raise UserError(f"{path}:{line}: is not JSON ({reason}): give {wanted}") from None
