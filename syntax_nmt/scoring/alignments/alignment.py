"""Word alignments: links between the words of a sentence and its translation, and their files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.alignments.alignment_formats import (
    WrittenLink,
    counts_from_1,
    written_links,
)

Link = tuple[int, int]
"""A source word and a target word, counted from 0."""

Alignment = frozenset[Link]


@dataclass(frozen=True)
class GoldAlignment:
    """The gold links of a sentence (Och and Ney, 2003).

    Attributes:
        sure: links that an alignment should have.
        possible: links that it may have, the sure ones among them.
    """

    sure: Alignment
    possible: Alignment


def read_gold(path: str | Path, base: int = 0, option: str = "--gold-base") -> list[GoldAlignment]:
    """Alignments of sentences, with possible links, in any format of `alignment_formats`.

    A link that is given as both sure and possible is sure.

    A note warns of links that may count from 1 without the option.

    Args:
        path: the file, plain or `.gz`.
        base: the number of a sentence's first word, 0 or 1, if the format does not define it.
        option: the option for the base, for messages.

    Raises:
        UserError: the file cannot be read, or it has an invalid link.
    """
    lines = list(read_lines(path))
    from_1 = counts_from_1(lines)
    base = base if from_1 is None else int(from_1)
    read = [
        _gold(found.links, base, f"{path}:{found.line}", option)
        for found in written_links(lines, str(path))
    ]
    if from_1 is None and base == 0 and _never_from_zero(gold.possible for gold in read):
        print(
            f"note: {path}: no link has a word 0: if it counts from 1, add {option} 1",
            file=sys.stderr,
        )
    return read


def read_alignments(path: str | Path, base: int = 0) -> list[Alignment]:
    """Alignments of sentences; possible links count like sure ones.

    Args:
        path: the file, plain or `.gz`.
        base: as of :func:`read_gold`.

    Raises:
        UserError: the file cannot be read, or it has an invalid link.
    """
    return [gold.possible for gold in read_gold(path, base, "--hypothesis-base")]


def format_alignment(alignment: Iterable[Link]) -> str:
    """A line of Pharaoh's form without its end: `i-j`, source-target, from 0, in order."""
    return " ".join(f"{source}-{target}" for source, target in sorted(alignment))


def flipped(alignment: Iterable[Link]) -> Alignment:
    """The same links with the sides exchanged."""
    return frozenset((target, source) for source, target in alignment)


def links_outside(alignment: Iterable[Link], source: int, target: int) -> Iterator[Link]:
    """The links to words that do not exist."""
    for link in alignment:
        if link[0] >= source or link[1] >= target:
            yield link


def _never_from_zero(alignments: Iterable[Alignment]) -> bool:
    links = [link for alignment in alignments for link in alignment]
    return bool(links) and all(min(link) > 0 for link in links)


def _gold(links: Iterable[WrittenLink], base: int, where: str, option: str) -> GoldAlignment:
    sure, possible = set(), set()
    for written in links:
        link = written.source - base, written.target - base
        if min(link) < 0:
            raise UserError(f"{where}: {written.text!r} counts from 0: leave {option} {base} out")
        possible.add(link)
        if written.sure:
            sure.add(link)
    return GoldAlignment(frozenset(sure), frozenset(possible))
