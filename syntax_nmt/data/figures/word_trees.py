"""Dependency trees over words from heads over subwords, for many sentences at once.

Sentences are concatenated. Heads in files count from the start of their sentence; parents here
count from the start of the block, and a root is its own parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WordTrees:
    """Heads over words.

    Attributes:
        parents: position of each word's head, (words,) int64.
        sizes: words of each sentence, each at least 1, int64.
    """

    parents: np.ndarray
    sizes: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Position of each sentence's first word."""
        return np.cumsum(self.sizes) - self.sizes

    def depths(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of arcs between each word and its root, and which sentences are trees.

        Each round looks up twice as far as the previous one (pointer jumping).

        Returns:
            (words,) int64, meaningless where there is a cycle; (sentences,), True = one root and
            no cycle.
        """
        ancestors = self.parents
        roots = ancestors == np.arange(len(ancestors))
        depths = (~roots).astype(np.int64)
        for _ in range(int(self.sizes.max(initial=0)).bit_length()):
            further = ancestors[ancestors]
            if np.array_equal(further, ancestors):
                break
            depths += depths[ancestors]
            ancestors = further
        if not len(roots):
            return depths, np.zeros(0, dtype=bool)
        one_root = np.add.reduceat(roots.astype(np.int64), self.starts) == 1
        return depths, one_root & np.logical_and.reduceat(roots[ancestors], self.starts)

    def projective(self, depths: np.ndarray) -> np.ndarray:
        """Finds projective trees: every word and its descendants are contiguous.

        Args:
            depths: of the words, from :meth:`depths`; every sentence is a tree.

        Returns:
            (sentences,) bool.
        """
        leftmost = np.arange(len(self.parents))
        rightmost = leftmost.copy()
        counts = np.ones_like(leftmost)
        order = np.argsort(depths, kind="stable")
        levels = np.searchsorted(depths[order], np.arange(1, depths.max() + 2))
        for begin, end in reversed(list(zip(levels[:-1], levels[1:]))):  # the deepest words first
            words = order[begin:end]
            parents = self.parents[words]
            np.minimum.at(leftmost, parents, leftmost[words])
            np.maximum.at(rightmost, parents, rightmost[words])
            np.add.at(counts, parents, counts[words])
        return np.logical_and.reduceat(rightmost - leftmost + 1 == counts, self.starts)

    def select(self, chosen: np.ndarray) -> WordTrees:
        """Some of the sentences.

        Args:
            chosen: (sentences,) bool.
        """
        if chosen.all():
            return self
        kept = np.repeat(chosen, self.sizes)
        places = np.cumsum(kept) - 1
        return WordTrees(places[self.parents[kept]], self.sizes[chosen])


def lift_heads(
    heads: np.ndarray, sizes: np.ndarray, opens: np.ndarray
) -> tuple[WordTrees, np.ndarray]:
    """Undoes :func:`~syntax_nmt.data.projection.project_heads`: a word's head is its first piece's.

    Args:
        heads: head of each piece, counted from its sentence's start and inside it.
        sizes: pieces of each sentence, each at least 1.
        opens: (pieces,) bool, True where a piece opens a word; each sentence's first does.

    Returns:
        the trees over words, and (sentences,) True = these are its words: each piece that opens a
        word hangs on one that opens a word, all others on the one that opens theirs.
    """
    starts = np.cumsum(sizes) - sizes
    parents = heads + np.repeat(starts, sizes)
    openers = np.flatnonzero(opens)
    word_of = np.cumsum(opens) - 1
    follows = np.where(opens, opens[parents], parents == openers[word_of])
    trees = WordTrees(word_of[parents[openers]], np.add.reduceat(opens.astype(np.int64), starts))
    return trees, np.logical_and.reduceat(follows, starts)
