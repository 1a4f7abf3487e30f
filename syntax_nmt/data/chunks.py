"""Chunks in IOB2: one line a sentence, tags separated by spaces, an empty line for none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

OUTSIDE = "O"


class Chunk(NamedTuple):
    """A chunk: its type and its words, `start` to `end` (exclusive).

    A word outside every chunk is a chunk of its own of type `O`.
    """

    tag: str
    start: int
    end: int


def read_chunks(path: str | Path) -> Iterator[tuple[Chunk, ...] | None]:
    """The chunks of each line of an IOB2 file; None for an empty line.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: a tag is malformed or continues nothing; the message names the file and line.
    """
    for number, line in enumerate(read_lines(path), start=1):
        yield parse_chunks(line, str(path), number)


def parse_chunks(text: str, name: str, line: int) -> tuple[Chunk, ...] | None:
    """The chunks of one line, which together cover its words; None for an empty line.

    Args:
        text: IOB2 tags separated by spaces.
        name: the file, for messages.
        line: 1-based number of the line.

    Raises:
        UserError: a tag is not O, B-X or I-X, or I-X follows neither B-X nor I-X.
    """
    chunks: list[Chunk] = []
    for word, tag in enumerate(text.split()):
        kind, dash, chunk_type = tag.partition("-")
        if tag == OUTSIDE:
            chunks.append(Chunk(OUTSIDE, word, word + 1))
        elif kind not in ("B", "I") or not dash or not chunk_type or chunk_type == OUTSIDE:
            raise UserError(
                f"{name}:{line}: tag {tag!r} of word {word + 1} is not O, B-TYPE or I-TYPE: "
                f"write the chunks as IOB2"
            )
        elif kind == "B":
            chunks.append(Chunk(chunk_type, word, word + 1))
        elif not chunks or chunks[-1].tag != chunk_type:
            before = text.split()[word - 1] if word else "nothing"
            raise UserError(
                f"{name}:{line}: {tag} of word {word + 1} follows {before}, not B-{chunk_type} or "
                f"I-{chunk_type}: a chunk begins with B- (convert IOB1 to IOB2)"
            )
        else:
            chunks[-1] = Chunk(chunk_type, chunks[-1].start, word + 1)
    return tuple(chunks) or None
