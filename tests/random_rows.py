"""Rows of annotation at random."""

import numpy as np

from syntax_nmt.data.annotation import CHUNKS, HEADS, PHRASES, TARGET_HEADS, TREES
from syntax_nmt.data.annotation.trees import merge_row
from syntax_nmt.data.merges import random_merges


def draw(kind, size, labels, random):
    """The row of a sentence of at least 1 subword; `labels` is their number."""
    draws = {
        HEADS: draw_heads,
        TARGET_HEADS: draw_heads,
        PHRASES: draw_phrases,
        TREES: draw_trees,
        CHUNKS: lambda *of: draw_chunks(*of, labels),
    }
    if kind in draws:
        return draws[kind](size, random)
    return random.integers(1, labels + 1, size=size, dtype=np.int32)  # of a column


def draw_heads(size, random):
    """Each subword depends on an earlier one, in a random order."""
    order = random.permutation(size)
    heads = np.empty(size, dtype=np.int32)
    heads[order[0]] = order[0]
    for position in range(1, size):
        heads[order[position]] = order[random.integers(position)]
    return heads


def draw_phrases(size, random):
    """Cut at every second place on average."""
    ends = [*np.flatnonzero(random.integers(2, size=size - 1)) + 1, size]
    return np.diff(ends, prepend=0).astype(np.int32)


def draw_trees(size, random):
    """Neighbours merge in a random order."""
    return merge_row(random_merges(size, random))


def draw_chunks(size, random, labels):
    """A chunk begins at the first subword, and at every second on average."""
    opens = random.integers(2, size=size)
    opens[0] = 1
    return (opens * random.integers(1, labels + 1, size=size)).astype(np.int32)
