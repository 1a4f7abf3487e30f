"""Binary trees from syntactic distances: split at the largest gap, then each part again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syntax_nmt.data.constituents import (
    UNNAMED_CONSTITUENT,
    UNNAMED_WORD,
    Constituent,
    ConstituentTree,
)
from syntax_nmt.scoring.constituents.bracketing import Span


def spans_of_gaps(gaps: Sequence[float]) -> list[Span]:
    """The brackets of the binary tree of distances.

    A sentence is split at its largest gap, the leftmost of equals, and so are its parts. Hence a
    gap splits the span between the next gap on its left that is at least as large and the next one
    on its right that is larger. This takes time linear in the number of words.

    Args:
        gaps: the distance before each word but the first.

    Returns:
        one span a gap, in the order of the gaps.
    """
    starts, ends = [0] * len(gaps), [len(gaps) + 1] * len(gaps)
    larger: list[int] = []  # gaps that may bound later ones, from left to right
    for gap, distance in enumerate(gaps):
        while larger and gaps[larger[-1]] < distance:
            ends[larger.pop()] = gap + 1
        starts[gap] = larger[-1] + 1 if larger else 0
        larger.append(gap)
    return list(zip(starts, ends))


def tree_of_spans(words: Sequence[str], spans: Iterable[Span]) -> ConstituentTree:
    """A tree with a bracket around the sentence, one for each span, and the words.

    Args:
        words: of the sentence, one or more.
        spans: within the sentence; no two of them cross.
    """
    inner = sorted({*spans, (0, len(words))}, key=lambda span: (span[0], -span[1]))
    nodes: list[Constituent] = []
    open_ends: list[int] = []
    following = 0
    for word in range(len(words)):
        while open_ends and open_ends[-1] <= word:
            open_ends.pop()
        while following < len(inner) and inner[following][0] == word:
            end = inner[following][1]
            nodes.append(Constituent(UNNAMED_CONSTITUENT, word, end, len(open_ends), leaf=False))
            open_ends.append(end)
            following += 1
        nodes.append(Constituent(UNNAMED_WORD, word, word + 1, len(open_ends), leaf=True))
    return ConstituentTree(tuple(words), tuple(nodes))
