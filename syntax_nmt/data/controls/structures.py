"""Structures without syntax: dependency trees made anew or shuffled, and any structure of another
sentence. Heads are 0-based, and a root is its own head.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.data.conllu import NUM_COLUMNS
from syntax_nmt.data.constituents import UNNAMED_CONSTITUENT, Constituent, ConstituentTree

_ROOT, _DEPENDENT = "root", "dep"
_NO_FEATURES = ("_",) * 4


class TreeArcs(NamedTuple):
    """A dependency tree without its words.

    Attributes:
        heads: of each word.
        relations: of each word.
        features: LEMMA, UPOS, XPOS and FEATS of each word; empty = words keep their own.
    """

    heads: Sequence[int]
    relations: Sequence[str]
    features: Sequence[Sequence[str]] = ()


def chain(size: int) -> TreeArcs:
    """Each word depends on the previous one; the first is the root.

    Args:
        size: words of the sentence.
    """
    heads = [max(word - 1, 0) for word in range(size)]
    return TreeArcs(heads, [_ROOT] + [_DEPENDENT] * (size - 1))


def shuffled(arcs: TreeArcs, random: Random) -> TreeArcs:
    """The same tree over randomly permuted words: π(k) depends on π(head of k).

    Numbers of dependents and depths do not change; distances and projectivity do. Words keep their
    features.
    """
    size = len(arcs.heads)
    places = random.sample(range(size), size)
    heads, relations = [0] * size, [""] * size
    for word, head in enumerate(arcs.heads):
        heads[places[word]] = places[head]
        relations[places[word]] = arcs.relations[word]
    return TreeArcs(heads, relations)


def resized_arcs(arcs: TreeArcs, size: int) -> TreeArcs:
    """The tree of a sentence for one of another length.

    Words beyond the end of the tree depend on the previous word, and have no features. If the root
    is cut off, the first word becomes the root. A word whose head is cut off depends on the nearest
    previous word that does not depend on it, or on the root if all previous words do. So the result
    is a tree with one root.

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
    features = [*arcs.features[:size], *(_NO_FEATURES for _ in longer)] if arcs.features else ()
    return TreeArcs(heads, relations, features)


def _depends(word: int, other: int, heads: Sequence[int]) -> bool:
    """Whether a word is an ancestor of another, along heads that are not cut off."""
    while word != other and word < len(heads) and heads[word] != word:
        word = heads[word]
    return word == other


def with_arcs(block: Sequence[str], arcs: TreeArcs) -> list[str]:
    """A sentence of CoNLL-U with another tree over its words, and its features if it has any.

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
            if arcs.features:
                columns[2:6] = arcs.features[word]
            if len(columns) == NUM_COLUMNS:
                columns[8] = "_"
        lines.append("\t".join(columns))
    return lines


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


def balanced_tree(tree: ConstituentTree) -> ConstituentTree:
    """Its words and parts of speech, halved from the root down; the left half may be longer."""

    def nodes_of(start: int, end: int, depth: int) -> list[Constituent]:
        if end - start == 1:
            return [leaves[start]._replace(depth=depth)]
        middle = (start + end + 1) // 2
        below = nodes_of(start, middle, depth + 1) + nodes_of(middle, end, depth + 1)
        return [Constituent(UNNAMED_CONSTITUENT, start, end, depth, False), *below]

    leaves = _leaves(tree)
    return ConstituentTree(tree.words, tuple(nodes_of(0, len(tree), 0)), tree.line)


def right_branching_tree(tree: ConstituentTree) -> ConstituentTree:
    """Its words and parts of speech: every constituent is a word and all after it."""
    leaves, last = _leaves(tree), len(tree) - 1
    nodes = [
        node
        for word, leaf in enumerate(leaves[:last])
        for node in (
            Constituent(UNNAMED_CONSTITUENT, word, last + 1, word, False),
            leaf._replace(depth=word + 1),
        )
    ]
    nodes.append(leaves[last]._replace(depth=last))
    return ConstituentTree(tree.words, tuple(nodes), tree.line)


def _leaves(tree: ConstituentTree) -> list[Constituent]:
    return [node for node in tree.nodes if node.leaf]


def resized_chunks(chunks: Sequence[Chunk], size: int) -> tuple[Chunk, ...]:
    """Chunks over another number of words: one that is cut ends with the sentence.

    Words beyond the last chunk are outside.
    """
    kept = [chunk._replace(end=min(chunk.end, size)) for chunk in chunks if chunk.start < size]
    beyond = (Chunk(OUTSIDE, word, word + 1) for word in range(chunks[-1].end, size))
    return (*kept, *beyond)
