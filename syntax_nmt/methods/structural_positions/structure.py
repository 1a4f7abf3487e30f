"""Depths of words in a dependency tree, and relations of two words by their depths."""

import torch
from torch import Tensor

from syntax_nmt.backbone.tree_pointers import ancestors, arcs_between
from syntax_nmt.methods.structural_positions.options import DEPTH, LCA


def depths(heads: Tensor, first: Tensor) -> Tensor:
    """a: the arcs from the word of each token up to the root, B×S; 0 of a root.

    Pointers that double their steps count them in ⌈log₂ S⌉ rounds. The number is meaningless where
    a token has no head, but below S, as are all.

    Args:
        heads: B×S, the column of each token's head, a root's own; −1 = none.
        first: B×S, the column of the first subword of each token's word.
    """
    length = heads.size(1)
    jump = heads.long().clamp(min=0).gather(1, first)
    steps = jump.ne(first).long()
    for _ in range((length - 1).bit_length()):
        steps = steps + steps.gather(1, jump)
        jump = jump.gather(1, jump)
    return steps.clamp(max=length - 1)


def relations(heads: Tensor, first: Tensor, rule: str) -> Tensor:
    """rel(i, j), B×S×S; 0 within a word.

    Args:
        heads: of :func:`depths`.
        first: likewise.
        rule: one of :data:`~syntax_nmt.methods.structural_positions.options.RULES`.
    """
    if rule == DEPTH:
        return _less(depths(heads, first))
    above = ancestors(heads, first)
    depth = above.sum(dim=2).long() - 1
    columns = torch.arange(depth.size(1), device=heads.device)
    order = (columns - columns.unsqueeze(1)).sign()  # 1 where i stands first
    if rule == LCA:
        return order * arcs_between(above).long()
    # True = the word of j is that of i, or above it.
    is_above = above.gather(2, first.unsqueeze(1).expand_as(above)).bool()
    on_a_path = is_above | is_above.transpose(1, 2)
    return torch.where(on_a_path, _less(depth), order * (depth.unsqueeze(2) + depth.unsqueeze(1)))


def _less(depth: Tensor) -> Tensor:
    """The depth of i less that of j, B×S×S."""
    return depth.unsqueeze(2) - depth.unsqueeze(1)
