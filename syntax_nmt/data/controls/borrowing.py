"""Structures of other sentences: their assignment, and their fit to other words."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.constituents import Constituent, ConstituentTree

NOBODY = -1


def draw_lenders(sizes: Sequence[int], random: Random) -> list[int]:
    """The sentence that lends its structure to each; no sentence borrows its own.

    Sentences of one length lend to each other in a random cycle, so that each lends once. The only
    sentence of its length borrows from one of the next greater length, or if there is none, of the
    next smaller.

    Args:
        sizes: words of each sentence; 0 = it has no annotation, and neither lends nor borrows.

    Returns:
        the lenders' positions; `NOBODY` for sentences without annotation.

    Raises:
        ValueError: a single sentence has annotation.
    """
    places: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        if size:
            places.setdefault(size, []).append(place)
    lengths = sorted(places)
    lenders = [NOBODY] * len(sizes)
    for rank, length in enumerate(lengths):
        group = places[length]
        if len(group) > 1:
            circle = random.sample(group, len(group))
            for borrower, lender in zip(circle, [*circle[1:], circle[0]]):
                lenders[borrower] = lender
        elif len(lengths) == 1:
            raise ValueError("a single sentence has annotation, and there is no other to lend it")
        else:
            nearest = lengths[rank + 1] if rank + 1 < len(lengths) else lengths[rank - 1]
            lenders[group[0]] = random.choice(places[nearest])
    return lenders


def resized_tree(tree: ConstituentTree, words: Sequence[str]) -> ConstituentTree:
    """A constituency tree over other words: parts of speech and labels keep their positions.

    Constituents that are cut end with the sentence. Further words depend on its root.
    """
    size = len(words)
    nodes = [node._replace(end=min(node.end, size)) for node in tree.nodes if node.start < size]
    if len(tree) < size:
        if nodes[0].leaf:
            nodes = [Constituent("", 0, 1, 0, False), nodes[0]._replace(depth=1)]
        nodes[0] = nodes[0]._replace(end=size)
        nodes += [Constituent("", word, word + 1, 1, True) for word in range(len(tree), size)]
    return ConstituentTree(tuple(words), tuple(nodes), tree.line)


def resized_chunks(chunks: Sequence[Chunk], size: int) -> tuple[Chunk, ...]:
    """Chunks over another number of words: one that is cut ends with the sentence.

    Words beyond the last chunk are outside.
    """
    kept = [chunk._replace(end=min(chunk.end, size)) for chunk in chunks if chunk.start < size]
    beyond = (Chunk(OUTSIDE, word, word + 1) for word in range(chunks[-1].end, size))
    return (*kept, *beyond)
