"""Attention heads that learn each token's head in a dependency tree: weights, loss and its log."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.methods.objective import log_average, log_percentage


def first_heads(
    attention: FusedMultiheadAttention, x: Tensor, number: int, closed: Tensor
) -> Tensor:
    """Log-probabilities of the first heads of a self-attention.

    They are projected a second time, at N/H of the cost of two projections. So the layer itself
    does not change: all its heads use the fused kernel. Inference does not compute them. They do
    not include biases, gates and the dropout of attention weights.

    Args:
        x: what it reads, T×B×C.
        number: N, how many.
        closed: B×T×T, or smaller to broadcast; True = masked. Each row has an open column.

    Returns:
        B×N×T×T in float32 at least; rows are queries. Masked columns are −inf.
    """
    length, sentences, _ = x.shape
    width = number * attention.head_dim

    def projected(projection: torch.nn.Linear) -> Tensor:
        bias = None if projection.bias is None else projection.bias[:width]
        return F.linear(x, projection.weight[:width], bias)

    query, key = projected(attention.q_proj), projected(attention.k_proj)
    if attention.scorer is not None and attention.scorer.head < number:
        query, key = attention.scorer.with_queries(x, query), attention.scorer.with_keys(x, key)
    query, key = (
        y.view(length, sentences, number, -1).permute(1, 2, 0, 3) for y in (query, key)
    )  # T×B×(N·D) -> B×N×T×D
    # A product of float16 numbers may be too large for float16.
    query, key = at_least_float32(query) * attention.scaling, at_least_float32(key)
    with torch.autocast(x.device.type, enabled=False):
        logits = torch.matmul(query, key.transpose(2, 3))
    return F.log_softmax(logits.masked_fill(closed.unsqueeze(1), float("-inf")), dim=-1)


def parent_head_losses(log_probabilities: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
    """Each token's `−log P[i, head(i)]`, and whether its largest weight is on its head.

    Args:
        log_probabilities: of the attention head, B×S×S.
        heads: B×S; −1 = not supervised.

    Returns:
        losses, B×S, 0 where not supervised, and a mask, B×S, True = attached to its head.
    """
    supervised = heads.ge(0)
    parents = heads.clamp(min=0)
    losses = -log_probabilities.gather(2, parents.unsqueeze(2)).squeeze(2)
    attached = log_probabilities.argmax(dim=2).eq(parents) & supervised
    return losses.masked_fill(~supervised, 0.0), attached


def log_parent_head(prefix: str, total: Callable[[str], float]) -> None:
    """Logs loss per supervised token, attachment accuracy and the supervised share.

    Args:
        prefix: of the sums `PREFIX_loss`, `PREFIX_attached`, `PREFIX_supervised` and
            `PREFIX_words`, and of what is logged.
        total: gives the sum of one logged key over all batches and workers.
    """
    supervised = total(f"{prefix}_supervised")
    log_average(f"{prefix}_loss", total(f"{prefix}_loss"), supervised)
    log_percentage(f"{prefix}_uas", total(f"{prefix}_attached"), supervised)
    log_percentage(f"{prefix}_supervised", supervised, total(f"{prefix}_words"))
