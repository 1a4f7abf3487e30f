"""Chunked text in the columns of CoNLL-2000: `word POS chunk`, an empty line after a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.chunks import chunks_of_tags, iob2_tags
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

# Other Unicode spaces may be part of a word.
_SEPARATOR = re.compile("[ \t]+")
_TAG = re.compile(r"O|[BI]-(?!O$)\S+")


class ChunkedSentence(NamedTuple):
    """A sentence with one part of speech and one chunk tag a word.

    Attributes:
        words: as written.
        pos: parts of speech.
        tags: chunk tags in IOB2.
        line: 1-based line of its first word, for messages.
    """

    words: tuple[str, ...]
    pos: tuple[str, ...]
    tags: tuple[str, ...]
    line: int


def read_conll2000(path: str | Path) -> Iterator[ChunkedSentence]:
    """The sentences of a file; IOB1 tags become IOB2.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: a line is not `word POS chunk`; the message names the file and line.
    """
    rows: list[tuple[str, str, str]] = []
    first = 1
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        text = line.strip(" \t")
        if text:
            rows.append(_row(text, str(path), number))
            continue
        if rows:
            yield _sentence(rows, first)
        rows = []
        first = number + 1
    if rows:
        yield _sentence(rows, first)


def _row(text: str, name: str, line: int) -> tuple[str, str, str]:
    columns = _SEPARATOR.split(text)
    if len(columns) != 3:
        raise UserError(
            f"{name}:{line}: {len(columns)} columns, not the 3 of CoNLL-2000: write each word as "
            f"'word POS chunk', and an empty line after each sentence"
        )
    word, pos, tag = columns
    if not _TAG.fullmatch(tag):
        raise UserError(
            f"{name}:{line}: chunk tag {tag!r} of {word!r} is not O, B-TYPE or I-TYPE: "
            f"write the chunks as IOB2 or IOB1"
        )
    return word, pos, tag


def _sentence(rows: list[tuple[str, str, str]], line: int) -> ChunkedSentence:
    words, pos, tags = zip(*rows)
    return ChunkedSentence(words, pos, tuple(iob2_tags(chunks_of_tags(tags))), line)
