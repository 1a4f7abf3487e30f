"""The entries of an annotation file in any order, without holding them in memory."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from syntax_nmt.data.annotation.kind import Place
from syntax_nmt.data.annotation_text import annotation_entries
from syntax_nmt.data.controls.kinds import ControlledKind


class IndexedEntries:
    """An annotation file, checked and copied to a temporary one where each entry's place is known.

    Args:
        file: the file, plain or `.gz`.
        copy: an empty file to read and write bytes.

    Attributes:
        sizes: words of each sentence; 0 = it has no annotation.

    Raises:
        UserError: an entry is malformed.
    """

    def __init__(self, file: Path, of: ControlledKind, copy: IO[bytes]) -> None:
        self.file, self.kind, self._copy = file, of.kind, copy
        self.sizes = array("l")
        self._starts, self._lines = array("q", [0]), array("q")
        for place, entry in annotation_entries(file, self.kind):
            annotation = self.kind.parse(entry, place)
            self.sizes.append(0 if annotation is None else of.size(annotation))
            self._lines.append(place.line)
            self._starts.append(self._starts[-1] + copy.write(self.kind.entry_text(entry).encode()))

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        """An entry, and the annotation in it; None where it has none."""
        start, end = self._starts[number], self._starts[number + 1]
        self._copy.seek(start)
        lines = self._copy.read(end - start).decode().split("\n")[:-1]
        ((_, entry),) = self.kind.entries(iter(lines))
        return entry, self.kind.parse(entry, Place(self.file, self._lines[number]))


@contextmanager
def indexed_entries(file: Path, of: ControlledKind) -> Iterator[IndexedEntries]:
    """The entries of an annotation file, as long as the context lasts.

    Args:
        file: the file, plain or `.gz`.
    """
    with tempfile.TemporaryFile() as copy:
        yield IndexedEntries(file, of, copy)
