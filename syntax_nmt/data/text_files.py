"""Text files read line by line, plain or gzipped, with one-line errors."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from syntax_nmt.errors import UserError


def open_text(path: str | Path) -> IO[str]:
    """Opens a UTF-8 text file for reading; a name ending in `.gz` is decompressed on the fly.

    Args:
        path: the file.

    Raises:
        UserError: the file is not there or may not be read.
    """
    try:
        if str(path).endswith(".gz"):
            return gzip.open(path, "rt", encoding="utf-8")
        return open(path, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}): check the path") from error


def read_lines(path: str | Path) -> Iterator[str]:
    """The lines of a text file without their line ends, one at a time.

    Lines end where fairseq's binarizer ends them (newline, carriage return, or both), and nowhere
    else: other Unicode separators stay inside the line.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: the file cannot be read, is not UTF-8, or is a truncated gzip file.
    """
    number = 0
    with open_text(path) as stream:
        try:
            for line in stream:
                number += 1
                yield line.rstrip("\n")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path}:{_undecodable_line(path)}: not UTF-8 ({error.reason}): convert the file, "
                f"for instance with iconv"
            ) from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(
                f"{path}:{number + 1}: the gzip file is damaged or truncated ({error}): "
                f"fetch or write it again"
            ) from error


def _undecodable_line(path: str | Path) -> int:
    """The decoder works on blocks and cannot tell the line: looks for it again, line by line."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def find_text(path: str | Path) -> Path | None:
    """The file itself, or the same name with `.gz`, or None where neither is there.

    Args:
        path: the name without `.gz`.
    """
    for candidate in (Path(path), Path(f"{path}.gz")):
        if candidate.is_file():
            return candidate
    return None
