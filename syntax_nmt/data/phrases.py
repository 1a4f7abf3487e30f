"""Segmenting a sentence into phrases (Xu et al., 2020, section 3 and Algorithm 1).

Lengths count subword tokens. The limit n is that of the sentence as the encoder sees it, with EOS;
the stored lengths exclude EOS, which is a separate phrase in a parsed sentence.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from syntax_nmt.data.constituents import ConstituentTree

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor

_Size = TypeVar("_Size", int, np.ndarray, "Tensor")


def phrase_limit(size: _Size) -> _Size:
    """The most tokens a phrase may have: `max(min(8, ceil(size / 6)), 3)`.

    Args:
        size: tokens of the sentence, EOS included; or of several sentences.
    """
    limit = -(-size // 6)
    return max(min(8, limit), 3) if isinstance(limit, int) else limit.clip(3, 8)


def parsed_lengths(tree: ConstituentTree, pieces_per_word: Sequence[int]) -> list[int]:
    """Lengths of the phrases of the parsed segmentation, without EOS; they add up to the pieces.

    Args:
        pieces_per_word: the number of subword tokens of each of its words, each at least 1.

    Raises:
        ValueError: the tree has another number of words.
    """
    if len(tree) != len(pieces_per_word):
        raise ValueError(f"a tree of {len(tree)} words for {len(pieces_per_word)} words")
    edges = list(accumulate(pieces_per_word, initial=0))
    spans = [(edges[node.start], edges[node.end], node.depth) for node in tree.nodes]
    return segment(spans, phrase_limit(edges[-1] + 1))


def segment(spans: Sequence[tuple[int, int, int]], limit: int) -> list[int]:
    """Algorithm 1: takes sub-trees off the right edge until nothing is left.

    Each phrase is the largest sub-tree at the right edge of the rest that has at most `limit`
    tokens (the shallowest of equals). While they fit, sub-trees of the same depth that end where
    the phrase begins are added. A leaf over the limit is a separate phrase.

    Args:
        spans: (first token, one past the last, depth) of every node of a tree, leaves included.
        limit: the most tokens of a phrase.

    Returns:
        The phrases' lengths from left to right.
    """
    ending_at: dict[int, list[tuple[int, int]]] = {}  # tokens, −depth: the larger is preferred
    size_at: dict[tuple[int, int], int] = {}  # nodes of one depth are disjoint: one per end
    for start, end, depth in spans:
        ending_at.setdefault(end, []).append((end - start, -depth))
        size_at[end, depth] = end - start
    lengths = []
    left = max(ending_at, default=0)
    while left:
        candidates = ending_at[left]
        fitting = [candidate for candidate in candidates if candidate[0] <= limit]
        length, negative_depth = max(fitting) if fitting else min(candidates)
        while True:
            size = size_at.get((left - length, -negative_depth))
            if size is None or length + size > limit:
                break
            length += size
        lengths.append(length)
        left -= length
    return lengths[::-1]
