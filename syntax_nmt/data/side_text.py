"""Side files in text form: read in step with their corpus, each entry checked against its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Union

from syntax_nmt.data.chunks import Chunk, parse_chunks
from syntax_nmt.data.conllu import DependencyTree, conllu_blocks, parse_block
from syntax_nmt.data.constituents import ConstituentTree, parse_tree
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.data.text_match import OtherTextError, check_same_text
from syntax_nmt.errors import UserError

Annotation = Union[DependencyTree, ConstituentTree, tuple[Chunk, ...]]


def side_entries(side: Path, kind: str) -> Iterator[tuple[int, Any]]:
    """The entries of a side file as they stand there: (1-based number of the first line, entry).

    Args:
        side: the file, plain or `.gz`.
        kind: `heads`, `phrases` or `chunks`.
    """
    lines = read_lines(side)
    return conllu_blocks(lines) if kind == "heads" else enumerate(lines, start=1)


def in_step(streams: Mapping[str, Iterator[Any]]) -> Iterator[tuple[int, tuple]]:
    """The entries of several files side by side: (1-based number, one entry of each file).

    Args:
        streams: what each file holds, by the file's name; no entry is None.

    Raises:
        UserError: the files have different numbers of entries.
    """
    for number, row in enumerate(zip_longest(*streams.values()), start=1):
        if None in row:
            raise _count_error(number, row, streams)
        yield number, row


def check_entry(
    entry: Any, kind: str, place: tuple[Path, int], words: Sequence[str], corpus: str
) -> Annotation | None:
    """The annotation of one sentence, over the words of the corpus; None where there is none.

    Args:
        entry: of :func:`side_entries`.
        kind: `heads`, `phrases` or `chunks`.
        place: the side file, and the entry's line there.
        words: the words of the corpus line.
        corpus: file and line of the corpus.

    Raises:
        UserError: the entry is malformed; names file and line.
        OtherTextError: it is well-formed, but of other words; names both places.
    """
    side, line = place
    where = f"{side}:{line}"
    if kind == "heads":
        tree = parse_block(entry, str(side), line)
        if tree is None:
            return None
        tree = tree.collapse(len(words), where)
        check_same_text(words, tree.words, where, corpus)
        return tree
    if kind == "phrases":
        constituents = parse_tree(entry, str(side), line)
        if constituents is not None:
            check_same_text(words, constituents.words, where, corpus)
        return constituents
    chunks = parse_chunks(entry, str(side), line)
    if chunks is not None and chunks[-1].end != len(words):
        raise OtherTextError(
            f"{where}: {chunks[-1].end} tags, but {corpus} has {len(words)} words: chunk the "
            f"tokenised text that the subwords were made from"
        )
    return chunks


def _count_error(line: int, row: tuple, streams: Mapping[str, Iterator[Any]]) -> UserError:
    """Says how many sentences each file has; reads the longer ones to their ends."""
    counts = {}
    for item, (name, stream) in zip(row, streams.items()):
        ended = item is None
        counts[name] = line - 1 if ended else line + sum(1 for _ in stream)
    shortest = min(counts, key=counts.__getitem__)
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return UserError(
        f"{shortest}:{line}: the file ends before the others (sentences: {listed}): they must "
        f"have one entry a sentence; a sentence without annotation keeps an empty one"
    )
