"""Reading text with the file and line in every error, writing files that are whole or not there."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from syntax_nmt.errors import UserError

_BLOCK = 1 << 20


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, which only a newline ends; `.gz` is decompressed.

    Args:
        path: the file. U+2028, carriage returns and the like stay inside their line.

    Raises:
        UserError: when the file is missing or not readable, or a line is not UTF-8.
    """
    try:
        with _open_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield line.decode("utf-8").rstrip("\n")
                except UnicodeDecodeError as error:
                    raise UserError(
                        f"{path}:{number}: not UTF-8 (byte {error.start + 1} of the line is "
                        f"0x{line[error.start]:02x}): convert the file, for instance with iconv"
                    ) from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot read {path}: {reason}") from None


@contextmanager
def write_atomically(path: Path) -> Iterator[TextIO]:
    """A text file to write to that takes its name only when all of it is on disk.

    Args:
        path: the final name; its folder is made. An exception inside leaves what was there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial{os.getpid()}")
    try:
        with open(partial, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits.

    Args:
        path: the file.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _open_bytes(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return open(path, "rb")
