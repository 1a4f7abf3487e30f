"""Ranges of files in bytes, which hold whole entries: found, compared and copied."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.text_files import line_starts, open_bytes, write_binary_atomically
from syntax_nmt.errors import UserError

_BLOCK = 1 << 20


class Start(NamedTuple):
    """Where an entry begins.

    Attributes:
        position: of its first byte; in a `.gz` file, of the content.
        line: from 1.
    """

    position: int
    line: int


BEGINNING = Start(0, 1)


def entry_starts(file: Path, kind: AnnotationKind | None) -> Iterator[Start]:
    """Where each entry of a file begins; no entry is decoded or kept.

    Args:
        kind: of the annotation in it; None = text, whose entries are lines.

    Raises:
        UserError: the file cannot be read.
    """
    last = 0

    def lines() -> Iterator[bytes]:
        nonlocal last
        for position, line in line_starts(file):
            last = position
            yield line

    numbers = kind.format.starts(lines()) if kind else (n for n, _ in enumerate(lines()))
    return (Start(last, number + 1) for number in numbers)


class FileRange(NamedTuple):
    """Some consecutive entries of a file.

    Attributes:
        file: plain or `.gz`.
        start: position of the first byte; in a `.gz` file, of the content.
        end: position after the last; None = the end of the file.
        checksum: SHA-256 of the bytes, as hexadecimal digits.
    """

    file: str
    start: int
    end: int | None
    checksum: str

    def copy(self, output: Path) -> None:
        """Writes the bytes to a file of their own.

        Raises:
            UserError: it cannot be written.
        """
        with open_bytes(self.file) as stream, write_binary_atomically(output) as out:
            stream.seek(self.start)
            out.writelines(_blocks(stream, self.start, self.end))


def file_ranges(
    file: Path, kind: AnnotationKind | None, size: int, expected: int
) -> list[FileRange]:
    """Cuts a file into ranges of so many entries, the last perhaps smaller.

    Args:
        kind: of the annotation in it; None = text.
        size: entries of a range.
        expected: entries of the whole file.

    Raises:
        UserError: the file has another number of entries, or cannot be read.
    """
    begins: list[int] = []
    found = 0
    for found, start in enumerate(entry_starts(file, kind), start=1):
        if found % size == 1 or size == 1:
            begins.append(start.position if begins else 0)
    if found != expected:
        raise UserError(
            f"{file}: {found:,} entries, and its text has {expected:,} lines: give one entry a "
            "line; a sentence without annotation keeps an empty one"
        )
    ends = [*begins[1:], None]
    # In one pass: a `.gz` file is decompressed from its beginning whenever it is opened.
    with open_bytes(file) as stream:
        sums = [_checksum(_blocks(stream, *bounds)) for bounds in zip(begins, ends)]
    return [FileRange(str(file), *found) for found in zip(begins, ends, sums)]


def _blocks(stream: BinaryIO, position: int, end: int | None) -> Iterator[bytes]:
    """The bytes from the stream's position up to `end`; None = all others."""
    while block := stream.read(_BLOCK if end is None else min(_BLOCK, end - position)):
        position += len(block)
        yield block


def _checksum(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()
