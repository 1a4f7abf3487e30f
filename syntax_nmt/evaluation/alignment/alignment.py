"""Word alignments: links between the words of a sentence and its translation, and their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError

Link = tuple[int, int]
"""A source word and a target word, counted from 0."""

Alignment = frozenset[Link]

_LINK = re.compile(r"(\d+)([-p?])(\d+)(-[PS])?", re.ASCII)


@dataclass(frozen=True)
class GoldAlignment:
    """What annotators say of a sentence (Och and Ney, 2003).

    Attributes:
        sure: links that an alignment should have.
        possible: links that it may have, the sure ones among them.
    """

    sure: Alignment
    possible: Alignment


def read_gold(path: str | Path, base: int = 0) -> list[GoldAlignment]:
    """Alignments of Pharaoh's form, one sentence a line, with possible links.

    `i-j` (or `i-j-S`) is a sure link between source word i and target word j; `ipj`, `i?j` and
    `i-j-P` are possible ones. A link that is given as both is sure.

    Args:
        path: the file, plain or `.gz`.
        base: what the first word of a sentence is called, 0 or 1.

    Raises:
        UserError: the file cannot be read, or something in it is no link.
    """
    return [
        _gold(line, base, f"{path}:{number}")
        for number, line in enumerate(read_lines(path), start=1)
    ]


def read_alignments(path: str | Path) -> list[Alignment]:
    """Alignments of Pharaoh's form, words counted from 0; possible links count as any other.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: the file cannot be read, or something in it is no link.
    """
    return [gold.possible for gold in read_gold(path)]


def format_alignment(alignment: Iterable[Link]) -> str:
    """A line of Pharaoh's form without its end: `i-j`, source-target, from 0, in order.

    Args:
        alignment: the links.
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(alignment))


def flipped(alignment: Iterable[Link]) -> Alignment:
    """The same links with the sides exchanged.

    Args:
        alignment: the links.
    """
    return frozenset((target, source) for source, target in alignment)


def links_outside(alignment: Iterable[Link], source: int, target: int) -> Iterator[Link]:
    """The links to words that the sentences do not have.

    Args:
        alignment: the links.
        source: words of the source.
        target: words of the target.
    """
    for link in alignment:
        if link[0] >= source or link[1] >= target:
            yield link


def _gold(line: str, base: int, where: str) -> GoldAlignment:
    sure, possible = set(), set()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            raise UserError(
                f"{where}: {text[:40]!r} is no link such as 3-4, 3p4, 3?4 or 3-4-P: mend it"
            )
        link = int(match[1]) - base, int(match[3]) - base
        if min(link) < 0:
            raise UserError(f"{where}: {text!r} counts from 0: leave --gold-base {base} out")
        possible.add(link)
        if match[2] == "-" and match[4] != "-P":
            sure.add(link)
    return GoldAlignment(frozenset(sure), frozenset(possible))
