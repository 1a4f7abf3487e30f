"""Depths of words in a dependency tree, and relations of two words by their depths."""

import torch
from torch import Tensor

from syntax_nmt.backbone.tree_ancestors import arcs_between
from syntax_nmt.methods.structural_positions.options import DEPTH, LCA


def depths(above: Tensor) -> Tensor:
    """a: the arcs from the word of each token up to the root, B×S; 0 of a root.

    Args:
        above: of :func:`~syntax_nmt.backbone.tree_ancestors.ancestors`.
    """
    return (above.sum(dim=2) - 1).long()


def relations(above: Tensor, first: Tensor, rule: str) -> Tensor:
    """rel(i, j), B×S×S; 0 within a word.

    Args:
        above: of :func:`~syntax_nmt.backbone.tree_ancestors.ancestors`.
        first: B×S, the column of the first subword of each token's word.
        rule: one of :data:`~syntax_nmt.methods.structural_positions.options.RULES`.
    """
    depth = depths(above)
    down = depth.unsqueeze(2) - depth.unsqueeze(1)
    if rule == DEPTH:
        return down
    columns = torch.arange(depth.size(1), device=above.device)
    order = (columns - columns.unsqueeze(1)).sign()  # 1 where i stands first
    if rule == LCA:
        return order * arcs_between(above).long()
    is_above = above.gather(
        2, first.unsqueeze(1).expand_as(above)
    ).bool()  # the word of j is above i
    on_a_path = is_above | is_above.transpose(1, 2)
    return torch.where(on_a_path, down, order * (depth.unsqueeze(2) + depth.unsqueeze(1)))
