"""Ancestors in dependency trees and tokens under nodes of binary trees, by pointer doubling.

Nothing waits for a device.
"""

from typing import NamedTuple

import torch
from torch import Tensor


def ancestors(heads: Tensor, first: Tensor) -> Tensor:
    """Which words stand above each token, its own word among them.

    Pointers up find all ancestors in ⌈log₂ S⌉ rounds.

    Args:
        heads: B×S, the column of each token's head, a root's own; −1 = none.
        first: B×S, the column of the first subword of each token's word.

    Returns:
        B×S×S in float32: [b, i, a] = 1 if a is the first column of the word of i, or of an ancestor
        of it; meaningless in rows of tokens without a head.
    """
    length = heads.size(1)
    columns = torch.arange(length, device=heads.device)
    above = first.unsqueeze(2).eq(columns).float()
    jump = heads.long().clamp(min=0).gather(1, first)
    for _ in range((length - 1).bit_length()):
        above = torch.maximum(above, above.gather(1, jump.unsqueeze(2).expand_as(above)))
        jump = jump.gather(1, jump)
    return above


def arcs_between(above: Tensor) -> Tensor:
    """The number of arcs between the words of two tokens, B×S×S; 0 within a word.

    Where a sentence has several roots, one node above them connects the trees.

    Args:
        above: of :func:`ancestors`.
    """
    depth = above.sum(dim=2)
    with torch.autocast(above.device.type, enabled=False):  # bfloat16 does not count beyond 256
        shared = torch.matmul(above, above.transpose(1, 2))
    return depth.unsqueeze(2) + depth.unsqueeze(1) - 2 * shared


class NodeSpans(NamedTuple):
    """The columns of the first and the last token under each node of binary trees.

    Attributes:
        first: B×(S+P), of tokens, which are their own, and then of merges.
        last: likewise.
    """

    first: Tensor
    last: Tensor


def node_spans(trees: Tensor, width: int) -> NodeSpans:
    """The first and the last token under each node; of a missing merge, some column of the batch.

    Pointers to the left and right child come down to tokens in ⌈log₂ P⌉ rounds.

    Args:
        trees: B×P×3, left and right child and height, of
            :meth:`~syntax_nmt.data.annotation.trees.Trees.collate`.
        width: S.
    """
    batch, merges, _ = trees.shape
    columns = torch.arange(width + merges, device=trees.device).expand(batch, 2, -1)
    children = trees[..., :2].long().transpose(1, 2)
    below = torch.cat([columns[..., :width], children], dim=2)
    below = torch.where(below.lt(0), columns.remainder(width), below)  # missing: any token
    for _ in range((merges - 1).bit_length()):  # a token points to itself: it stays
        below = below.gather(2, below)
    return NodeSpans(*below.unbind(1))
