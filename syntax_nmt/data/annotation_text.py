"""Annotation files in text form, read in parallel with their corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from syntax_nmt.data.annotation.kind import AnnotationKind, Place
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError


class EntryCountError(UserError):
    """Files that belong together have different numbers of sentences."""


def annotation_entries(
    file: Path, kind: AnnotationKind, attach_roots: bool = False
) -> Iterator[tuple[Place, Any]]:
    """The raw entries of an annotation file, plain or `.gz`.

    Args:
        attach_roots: whether to attach further roots of a parse to the first.
    """
    for line, entry in kind.entries(read_lines(file)):
        yield Place(file, line), kind.attach_roots(entry) if attach_roots else entry


def in_step(streams: Mapping[str, Iterator[Any]]) -> Iterator[tuple[int, tuple]]:
    """The entries of several files in parallel: (1-based number, one entry of each file).

    Args:
        streams: the content of each file, by its name; no entry is None.

    Raises:
        EntryCountError: the files have different numbers of entries.
    """
    for number, row in enumerate(zip_longest(*streams.values()), start=1):
        if None in row:
            raise _count_error(number, row, streams)
        yield number, row


def _count_error(number: int, row: tuple, streams: Mapping[str, Iterator[Any]]) -> EntryCountError:
    """Reports the number of sentences of each file; reads the longer ones to their ends."""
    counts = {}
    for item, (name, stream) in zip(row, streams.items()):
        ended = item is None
        counts[name] = number - 1 if ended else number + sum(1 for _ in stream)
    shortest = min(counts, key=counts.__getitem__)
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return EntryCountError(
        f"{shortest}: sentence {number:,}: the file ends before the others (sentences: {listed}): "
        "they must have one entry a sentence; a sentence without annotation keeps an empty one"
    )
