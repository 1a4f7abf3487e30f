"""Binary trees over the subwords of a sentence, as a list of merges from the bottom up.

A sentence of n subwords has n − 1 merges. Nodes are numbered: subwords are 0 to n − 1, the result
of merge k is n + k, and the last merge makes the root.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from syntax_nmt.data.constituents import ConstituentTree

Merge = tuple[int, int]


def binary_merges(tree: ConstituentTree, pieces_per_word: Sequence[int]) -> list[Merge]:
    """The merges of a constituency tree, left and right child each, children first.

    A node of more than two children is right-factored: `(a b c)` is `(a (b c))`, and so are the
    pieces of a word. A node with a single child is the child.

    Args:
        pieces_per_word: the number of subwords of each of its words, each at least 1.

    Raises:
        ValueError: the tree has another number of words.
    """
    if len(tree) != len(pieces_per_word):
        raise ValueError(f"a tree of {len(tree)} words for {len(pieces_per_word)} words")
    edges = list(accumulate(pieces_per_word, initial=0))
    merges: list[Merge] = []
    waiting: list[tuple[int, int]] = []  # nodes without a parent, and the word where each ends
    for node in reversed(tree.nodes):  # a node after all below it
        children = list(range(edges[node.start], edges[node.end])) if node.leaf else []
        while not node.leaf and waiting and waiting[-1][1] <= node.end:
            children.append(waiting.pop()[0])
        right = children.pop()
        for left in reversed(children):
            merges.append((left, right))
            right = edges[-1] + len(merges) - 1
        waiting.append((right, node.end))
    return merges


def random_merges(size: int, random: np.random.Generator) -> list[Merge]:
    """The merges of a binary tree at random.

    Args:
        size: subwords, at least 1.
    """
    nodes, merges = list(range(size)), []
    while len(nodes) > 1:
        place = int(random.integers(len(nodes) - 1))
        merges.append((nodes[place], nodes[place + 1]))
        nodes[place : place + 2] = [size + len(merges) - 1]
    return merges
