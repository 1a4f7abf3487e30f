"""Dependency trees without syntax; heads are 0-based, and a root is its own head."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from syntax_nmt.data.conllu import NUM_COLUMNS

_ROOT, _DEPENDENT = "root", "dep"


class Arcs(NamedTuple):
    """A dependency tree without its words: heads and relations."""

    heads: Sequence[int]
    relations: Sequence[str]


def chain(size: int) -> Arcs:
    """Each word depends on the previous one; the first is the root.

    Args:
        size: words of the sentence.
    """
    heads = [max(word - 1, 0) for word in range(size)]
    return Arcs(heads, [_ROOT] + [_DEPENDENT] * (size - 1))


def shuffled(arcs: Arcs, random: Random) -> Arcs:
    """The same tree over randomly permuted words: π(k) depends on π(head of k).

    Numbers of dependents and depths do not change; distances and projectivity do.
    """
    size = len(arcs.heads)
    places = random.sample(range(size), size)
    heads, relations = [0] * size, [""] * size
    for word, head in enumerate(arcs.heads):
        heads[places[word]] = places[head]
        relations[places[word]] = arcs.relations[word]
    return Arcs(heads, relations)


def resized_arcs(arcs: Arcs, size: int) -> Arcs:
    """The tree of a sentence for one of another length.

    Words beyond the end of the tree depend on the previous word. If the root is cut off, the first
    word becomes the root. A word whose head is cut off depends on the nearest previous word that
    does not depend on it, or on the root if all previous words do. So the result is a tree with one
    root.

    Args:
        size: words of the other sentence.
    """
    longer = range(len(arcs.heads), size)
    heads = [*arcs.heads[:size], *(word - 1 for word in longer)]
    relations = [*arcs.relations[:size], *(_DEPENDENT for _ in longer)]
    root = next((word for word, head in enumerate(heads) if head == word), 0)
    if heads[root] != root:
        heads[root], relations[root] = root, _ROOT
    for word in range(size):
        if heads[word] >= size:
            free = (each for each in range(word - 1, -1, -1) if not _depends(each, word, heads))
            heads[word], relations[word] = next(free, root), _DEPENDENT
    return Arcs(heads, relations)


def _depends(word: int, other: int, heads: Sequence[int]) -> bool:
    """Whether a word is an ancestor of another, along heads that are not cut off."""
    while word != other and word < len(heads) and heads[word] != word:
        word = heads[word]
    return word == other


def with_arcs(block: Sequence[str], arcs: Arcs) -> list[str]:
    """A sentence of CoNLL-U with another tree over its words.

    All else is kept, including multiword tokens; enhanced graphs are removed, because they are
    syntax.

    Args:
        block: its lines, comments included.
        arcs: as many as it has words.
    """
    lines = []
    for line in block:
        columns = line.split("\t")
        if line[0] != "#" and "." in columns[0]:  # an empty node of the enhanced graph
            continue
        if line[0] != "#" and "-" not in columns[0]:
            word = int(columns[0]) - 1
            head = arcs.heads[word]
            columns[6:8] = [str(0 if head == word else head + 1), arcs.relations[word]]
            if len(columns) == NUM_COLUMNS:
                columns[8] = "_"
        lines.append("\t".join(columns))
    return lines
