"""Dependency trees as constituency trees: a bracket for each word and its dependents, labelled with
the word's relation: `(root (nsubj She) sleeps)`.

Brackets hold neighbours only. Where a word and its dependents are no neighbours, a dependent moves
up to the head of its head until they are (pseudo-projective; Nivre and Nilsson, 2005). Its label
then tells how far away its own head is: `obl@-3`, three words to the left.
"""

import re
from collections.abc import Sequence
from heapq import heappop, heappush

from syntax_nmt.data.constituents import Constituent, ConstituentTree
from syntax_nmt.data.dependency_tree import DependencyTree, find_cycle, one_token, word_depths

_MOVED = re.compile(r"(.*)@([+-][0-9]{1,9})")


def bracketed_by_relation(tree: DependencyTree) -> ConstituentTree:
    """The constituency tree of a dependency tree with one root; words without dependents are
    leaves, others are leaves without a label in their bracket. No label is empty or has a space.
    """
    heads = projective_heads(tree.heads)
    depths = word_depths(heads)
    nodes = []
    for word, (start, end) in enumerate(_spans(heads)):
        moved = "" if heads[word] == tree.heads[word] else f"@{tree.heads[word] - word:+d}"
        alone = end == start + 1
        label = f"{one_token(tree.relations[word])}{moved}"
        nodes.append(Constituent(label, start, end, depths[word], alone))
        if not alone:
            nodes.append(Constituent("", word, word + 1, depths[word] + 1, True))
    nodes.sort(key=lambda node: (node.start, -node.end))  # preorder: no two have the same span
    return ConstituentTree(tree.words, tuple(nodes), tree.line)


def dependencies_of_brackets(tree: ConstituentTree) -> DependencyTree:
    """The inverse of :func:`bracketed_by_relation`: words, heads and relations.

    Raises:
        ValueError: a bracket has not exactly one word of its own, or a label names a head that
            makes no tree.
    """
    around: list[int] = []  # the places of the brackets around a node
    above: dict[int, int] = {}  # the bracket around a bracket; the root's is its own
    word_of: dict[int, int] = {}
    for place, node in enumerate(tree.nodes):
        del around[node.depth :]
        own = around[-1] if node.leaf and not node.label and around else place
        if own in word_of:
            raise ValueError(f"{tree.words[node.start]!r} is in the bracket of another word")
        if node.leaf:
            word_of[own] = node.start
        if own == place:
            above[place] = around[-1] if around else place
            around.append(place)
    heads, relations = [0] * len(tree), [""] * len(tree)
    for place, parent in above.items():
        if place not in word_of:
            raise ValueError(f"the bracket ({tree.nodes[place].label} has no word of its own")
        word, label = word_of[place], tree.nodes[place].label
        moved = _MOVED.fullmatch(label)
        heads[word] = word_of.get(parent, word) if moved is None else word + int(moved[2])
        relations[word] = label if moved is None else moved[1]
    roots = [head == word for word, head in enumerate(heads)]
    outside = not all(0 <= head < len(tree) for head in heads)
    if outside or sum(roots) != 1 or find_cycle([-1 if x else y for x, y in zip(roots, heads)]):
        raise ValueError("the heads that its labels name make no tree")
    unknown = ("_",) * len(tree)
    return DependencyTree(tree.words, tuple(heads), tuple(relations), unknown, line=tree.line)


def projective_heads(heads: Sequence[int]) -> list[int]:
    """The heads of a projective tree: the shortest non-projective arc is lifted to the head of its
    head, until there is none (Nivre and Nilsson, 2005).

    An arc is non-projective if a word between its ends is no descendant of its head. It remains so
    until it is lifted, because lifting only takes descendants from the old head. Sets of words are
    whole numbers, a bit for each word.

    Args:
        heads: 0-based head of each word; the root's is its own index.
    """
    lifted = list(heads)
    below = [1 << word for word in range(len(heads))]  # each word and its descendants
    depths = word_depths(heads)
    for word in sorted(range(len(heads)), key=lambda word: -depths[word]):
        if heads[word] != word:
            below[heads[word]] |= below[word]
    fitting = [0] * len(heads)  # of each word, the dependents whose arcs are projective
    crossing: list[tuple[int, int]] = []  # length and word of each non-projective arc

    def add(word: int) -> None:
        head = lifted[word]
        if _between(word, head) & ~below[head]:
            heappush(crossing, (abs(head - word), word))
        else:
            fitting[head] |= 1 << word

    for word in range(len(heads)):
        add(word)
    while crossing:
        _, word = heappop(crossing)
        head = lifted[word]
        below[head] &= ~below[word]
        left = below[word] & ((1 << head) - 1)
        right = below[word] >> head
        # Words that the head lost stand between it and its dependents beyond them.
        lost = fitting[head] & _outside(left, right, head)
        fitting[head] &= ~lost
        while lost:
            dependent = lost.bit_length() - 1
            lost -= 1 << dependent
            heappush(crossing, (abs(head - dependent), dependent))
        lifted[word] = lifted[head]
        add(word)
    return lifted


def _between(word: int, head: int) -> int:
    """The set of the words between two."""
    low, high = min(word, head), max(word, head)
    return (1 << high) - (1 << (low + 1)) if high > low else 0


def _outside(left: int, right: int, head: int) -> int:
    """The set of the words farther from a head than the nearest of other words on their side.

    Args:
        left: the set of the other words before the head.
        right: that after it, counted from the head.
    """
    before = (1 << left.bit_length() - 1) - 1 if left else 0
    after = -1 << (head + (right & -right).bit_length()) if right else 0
    return before | after


def _spans(heads: Sequence[int]) -> list[tuple[int, int]]:
    """For each word the first of itself and its descendants, and one past the last."""
    depths = word_depths(heads)
    spans = [(word, word + 1) for word in range(len(heads))]
    for word in sorted(range(len(heads)), key=lambda word: -depths[word]):
        (start, end), (low, high) = spans[word], spans[heads[word]]
        spans[heads[word]] = min(start, low), max(end, high)
    return spans
