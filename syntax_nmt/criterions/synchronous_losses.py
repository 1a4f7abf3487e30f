"""Losses between source structures, projected by cross-attention, and target structures.

Each returns for every sentence the sum of its terms and their number, at least. `real` (B×T, True =
the predicted symbol is a real word) says which target positions take part.
"""

from __future__ import annotations

import torch
from torch import Tensor

from syntax_nmt.modules.precision import at_least_float32


def project(cross_attention: Tensor, distances: Tensor) -> Tensor:
    """Source distances seen from the target: `ê = C e`, equation 8, B×T in float32 at least.

    Args:
        cross_attention: C, B×T×S.
        distances: e, B×S.
    """
    # Products and sums: a matrix product would fall under autocast.
    weights, distances = at_least_float32(cross_attention), at_least_float32(distances)
    return (weights * distances.unsqueeze(1)).sum(dim=2)


def rank_loss(
    projected: Tensor, distances: Tensor, real: Tensor, margin: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`Σ_{i<j} max(0, m − sign(d_i − d_j)·(ê_i − ê_j))`, equation 10; every pair counts once.

    The order of the target's distances is what the source's are to follow: there is no gradient to
    d here. Pairs of equal distances take no part. Distances lie in (−1, 1), so that not all pairs
    of more than two words can be a margin of 1 apart: most violate it whatever is learned, and
    their order shows what has been learned.

    Args:
        projected: ê, B×T.
        distances: d, B×T.
        real: B×T.
        margin: m, 1 in the paper.

    Returns:
        sums, numbers of pairs, of those that violate the margin, and of those in the wrong order,
        B each.
    """
    order = torch.sign(_differences(distances.detach()))
    apart = order * _differences(projected)
    pairs = (_both(real) & order.ne(0)).triu(1)
    sums, count = _sum_and_count(torch.relu(margin - apart), pairs, (1, 2))
    violated, misordered = ((pairs & apart.lt(m)).sum(dim=(1, 2)) for m in (margin, 0))
    return sums, count, violated, misordered


def mse_loss(projected: Tensor, distances: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """`Σ_i (ê_i − d_i)²`, equation 7.

    Args:
        projected: ê, B×T.
        distances: d, B×T.
        real: B×T.

    Returns:
        sums and numbers of positions, B each.
    """
    return _sum_and_count((projected - distances).square(), real, (1,))


def attention_loss(
    cross_attention: Tensor, source_attention: Tensor, target_attention: Tensor, real: Tensor
) -> tuple[Tensor, Tensor]:
    """`Σ_{j≤i} ((C A_enc Cᵀ)_{ij} − A_dec,ij)²` (Deguchi et al., 2021).

    Args:
        cross_attention: C, B×T×S.
        source_attention: A_enc, B×S×S.
        target_attention: A_dec, B×T×T.
        real: B×T.

    Returns:
        sums and numbers of pairs, B each.
    """
    with torch.autocast(cross_attention.device.type, enabled=False):
        c = at_least_float32(cross_attention)
        projected = c @ at_least_float32(source_attention) @ c.transpose(1, 2)
    squares = (projected - at_least_float32(target_attention)).square()
    return _sum_and_count(squares, _both(real).tril(), (1, 2))


def _differences(x: Tensor) -> Tensor:
    """x_i − x_j at [i, j], B×T×T."""
    return x.unsqueeze(2) - x.unsqueeze(1)


def _both(real: Tensor) -> Tensor:
    """Whether both positions are real, B×T×T."""
    return real.unsqueeze(2) & real.unsqueeze(1)


def _sum_and_count(terms: Tensor, selected: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    return terms.masked_fill(~selected, 0.0).sum(dim=dims), selected.sum(dim=dims)
