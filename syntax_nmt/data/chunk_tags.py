"""Chunks written as one tag a word: IOB1, IOB2 and BIOES are read alike, IOB2 is written.

The reading is that of conlleval, the scorer of CoNLL-2000: a word opens a chunk where its tag says
so (B, S), where the word before ended one (E, S) or is outside, and where the type changes. So
every sequence of tags has exactly one reading, also those that a tagger got wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syntax_nmt.data.chunks import OUTSIDE, Chunk

_OPENING = ("B", "S")
_CLOSING = ("E", "S")


def chunks_of_tags(tags: Iterable[str]) -> tuple[Chunk, ...]:
    """The chunks that tags spell, which together cover the words.

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
    """One tag a word: `B-TYPE` opens a chunk, `I-TYPE` continues it, `O` is outside.

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
