"""Chunks of sentences, read from either form that `syntax-nmt chunks` writes."""

from __future__ import annotations

from collections.abc import Sequence

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.chunks.chunk_file import is_tag, parse_chunk_lines

_WORDS = "give the text that was chunked behind the chunks"

Words = Sequence[str]
Chunks = tuple[Chunk, ...]


def read_chunk_text(path: str, words: Sequence[Words], text: str) -> list[Chunks | None]:
    """The chunks of each sentence; None for an empty line.

    Args:
        path: the file, in tags or as bracketed text; which, its tokens tell.
        words: of each sentence.
        text: where the words are from, for messages.

    Raises:
        UserError: a line is neither, or is of other words; or there are not as many lines.
    """
    lines = list(read_lines(path))
    as_tags = len(lines) != len(words) or all(
        is_tag(token) for line in lines for token in line.split()
    )
    if as_tags:
        read = parse_chunk_lines(lines, path).chunks
    else:
        read = [bracketed_chunks(*pair) or None for pair in zip(lines, words)]
    if len(read) != len(words):
        raise UserError(f"{path} has {len(read)} sentences, {text} {len(words)}: {_WORDS}")
    found: list[Chunks | None] = []
    for number, (chunks, of_line) in enumerate(zip(read, words), start=1):
        annotated = chunks is not None or (not as_tags and lines[number - 1].split())
        if annotated and (not chunks or chunks[-1].end != len(of_line)):
            have = f"{chunks[-1].end} tags" if as_tags and chunks else "bracketed chunks"
            raise UserError(
                f"{path}:{number}: {have}, but not of the {len(of_line)} words of {text}:{number}: "
                f"{_WORDS}"
            )
        found.append(chunks)
    return found


def bracketed_chunks(line: str, words: Words) -> Chunks | None:
    """The chunks of `[NP the old garden] [VP grows] .`, None if it is not of these words.

    Knowing the words tells brackets that are words from those around chunks.

    Args:
        line: bracketed text.
        words: the same without brackets.
    """
    chunks: list[Chunk] = []
    tag = None
    place = start = 0
    for token in line.split():
        word = words[place] if place < len(words) else None
        if tag is None and token == word:
            chunks.append(Chunk(OUTSIDE, place, place + 1))
        elif tag is None:
            tag, start = token[1:], place
            if not token.startswith("[") or not tag:
                return None
            continue
        elif word is None or token not in (word, f"{word}]"):
            return None
        elif token != word:
            chunks.append(Chunk(tag, start, place + 1))
            tag = None
        place += 1
    return tuple(chunks) if tag is None and place == len(words) else None
