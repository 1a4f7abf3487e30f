"""Chunks from files, read as by conlleval.

A file has one line of tags per sentence, separated by spaces, an empty line for no tags. Or it has
one word per line in columns, the last of which is the chunk tag, and an empty line after each
sentence (CoNLL-2000; conlleval's own input has the reference before the hypothesis). IOB1, IOB2 and
IOBES are accepted; an I- without its B- begins a chunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from syntax_nmt.data.chunks import OUTSIDE, Chunk, chunks_of_tags, parse_chunks
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

_TAG = re.compile(r"O|[BIES](-\S+)?")
_LIKE_TAG = re.compile(r"[A-Z](-\S+)?")  # of another scheme, or misspelt
_COLUMNS = re.compile("[ \t]+")  # other Unicode spaces may be part of a word
_BOUNDARY = "-X-"  # conlleval's other sign for the end of a sentence
_NO_TYPE = "_"

Tags = tuple[str, ...]
Chunks = tuple[Chunk, ...]


@dataclass
class ChunkFile:
    """The sentences of a file.

    Attributes:
        path: of the file.
        lines: the number of each sentence's first line.
        tags: one a word, those without a type with one; None = no annotation.
        chunks: their chunks.
        words: the first column; None = the file has no words.
        reference: the tags of the last column but one; None = there is no such column.
    """

    path: str
    lines: list[int] = field(default_factory=list)
    tags: list[Tags | None] = field(default_factory=list)
    chunks: list[Chunks | None] = field(default_factory=list)
    words: list[Tags] | None = None
    reference: ChunkFile | None = None

    def check_words(self, lengths: Sequence[int | None], other: str) -> None:
        """Refuses chunks of other words.

        Args:
            lengths: words of each sentence of the text; None = not known.
            other: of the text, for messages.

        Raises:
            UserError: a sentence has another number of words.
        """
        for line, found, length in zip(self.lines, self.chunks, lengths):
            if found is not None and length is not None and found[-1].end != length:
                raise UserError(
                    f"{self.path}:{line}: {found[-1].end} words, {other} has {length}: give the "
                    "chunks of this very text"
                )


def read_chunk_file(path: str, strict: bool = False) -> ChunkFile:
    """The chunks of each sentence.

    Args:
        path: the file, plain or `.gz`.
        strict: refuse tags that are not IOB2.

    Raises:
        UserError: a word is not a chunk tag; names the file and line.
    """
    lines = [line.strip(" \t") for line in read_lines(path)]
    rows = [_COLUMNS.split(line) for line in lines if line and not line.startswith(_BOUNDARY)]
    if _in_columns(rows):
        return _of_columns(lines, path, strict)
    found = ChunkFile(path)
    for number, line in enumerate(lines, start=1):
        _add(found, tuple(line.split()), number, strict)
    return found


def _in_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Whether every line ends in a tag, and some begin with a word that is no tag."""
    return all(len(row) > 1 and _TAG.fullmatch(row[-1]) for row in rows) and not all(
        _LIKE_TAG.fullmatch(row[0]) for row in rows
    )


def _of_columns(lines: Sequence[str], path: str, strict: bool) -> ChunkFile:
    sentences: list[tuple[int, list[list[str]]]] = []
    between = True
    columns = 0
    for number, line in enumerate(lines, start=1):
        row = _COLUMNS.split(line) if line else [_BOUNDARY]
        if row[0] == _BOUNDARY:
            between = True
            continue
        columns = columns or len(row)
        if len(row) != columns:
            raise UserError(
                f"{path}:{number}: {len(row)} columns, {columns} before: write each word as "
                f"'word … tag', and an empty line after each sentence"
            )
        if between:
            sentences.append((number, []))
        sentences[-1][1].append(row)
        between = False
    words: list[Tags] = []
    found = ChunkFile(path, words=words)
    both = columns > 2 and all(_TAG.fullmatch(row[-2]) for _, rows in sentences for row in rows)
    found.reference = ChunkFile(path) if both else None
    for number, rows in sentences:
        *_, last = turned = [*zip(*rows)]
        words.append(turned[0])
        _add(found, last, number, strict)
        if found.reference is not None:
            _add(found.reference, turned[-2], number, strict)
    return found


def _add(found: ChunkFile, tags: Tags, line: int, strict: bool) -> None:
    found.lines.append(line)
    if strict:
        found.tags.append(tags or None)
        found.chunks.append(parse_chunks(" ".join(tags), found.path, line))
        return
    # CoNLL's segmentation tasks have no types.
    typed = tuple(tag if tag == OUTSIDE or len(tag) > 1 else f"{tag}-{_NO_TYPE}" for tag in tags)
    found.tags.append(typed or None)
    try:
        found.chunks.append(chunks_of_tags(typed) or None)
    except ValueError as error:
        raise UserError(
            f"{found.path}:{line}: {error}: give IOB1, IOB2 or IOBES, a sentence a line or in the "
            "columns of CoNLL"
        ) from None
