"""Chunks as one IOB2 tag per word, a line per sentence, and in CoNLL-2000's columns: `word POS
chunk`, an empty line after a sentence. :func:`chunks_of_tags` also decodes IOB1 and BIOES.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

OUTSIDE = "O"
_OPENING = ("B", "S")
_CLOSING = ("E", "S")


class Chunk(NamedTuple):
    """A chunk: its type and its words, `start` to `end` (exclusive).

    A word outside every chunk is a separate chunk of type `O`.
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
    tags = text.split()
    open_type = ""
    for word, tag in enumerate(tags):
        kind, _, chunk_type = tag.partition("-")
        if tag != OUTSIDE and (kind not in ("B", "I") or chunk_type in ("", OUTSIDE)):
            raise UserError(
                f"{name}:{line}: tag {tag!r} of word {word + 1} is not O, B-TYPE or I-TYPE: "
                f"write the chunks as IOB2"
            )
        if kind == "I" and chunk_type != open_type:
            before = tags[word - 1] if word else "nothing"
            raise UserError(
                f"{name}:{line}: {tag} of word {word + 1} follows {before}, not B-{chunk_type} or "
                f"I-{chunk_type}: a chunk begins with B- (convert IOB1 to IOB2)"
            )
        open_type = chunk_type
    return chunks_of_tags(tags) or None


def chunks_of_tags(tags: Iterable[str]) -> tuple[Chunk, ...]:
    """The chunks of tags, which together cover the words.

    Args:
        tags: `O`, or a kind (B, I, E or S), a hyphen and the type of the chunk; one a word.

    Raises:
        ValueError: a tag is not one of these.
    """
    chunks: list[Chunk] = []
    open_type = None  # the type that an I or E here would continue
    for word, tag in enumerate(tags):
        if tag == OUTSIDE:
            chunks.append(Chunk(OUTSIDE, word, word + 1))
            open_type = None
            continue
        kind, chunk_type = split_tag(tag)
        if kind in _OPENING or chunk_type != open_type:
            chunks.append(Chunk(chunk_type, word, word + 1))
        else:
            chunks[-1] = Chunk(chunk_type, chunks[-1].start, word + 1)
        open_type = None if kind in _CLOSING else chunk_type
    return tuple(chunks)


def iob2_tags(chunks: Sequence[Chunk]) -> list[str]:
    """One tag per word: `B-TYPE` begins a chunk, `I-TYPE` continues it, `O` is outside.

    Args:
        chunks: of one sentence, in order, covering its words.
    """
    tags = []
    for chunk in chunks:
        if chunk.tag == OUTSIDE:
            tags += [OUTSIDE] * (chunk.end - chunk.start)
        else:
            tags += [f"B-{chunk.tag}"] + [f"I-{chunk.tag}"] * (chunk.end - chunk.start - 1)
    return tags


def split_tag(tag: str) -> tuple[str, str]:
    """The kind and the type of a tag other than `O`.

    Args:
        tag: such as `B-NP`.

    Raises:
        ValueError: it is not written like that.
    """
    kind, _, chunk_type = tag.partition("-")
    if kind not in ("B", "I", "E", "S") or chunk_type in ("", OUTSIDE):
        raise ValueError(f"tag {tag!r} is not O, and not B-, I-, E- or S- with a type after it")
    return kind, chunk_type


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
