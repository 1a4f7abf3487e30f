"""The attention of the heads that are trained to follow the source dependency tree."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from torch import Tensor

from syntax_nmt.backbone.numerics import at_least_float32

CHILD_HEAD, PARENT_HEAD = 0, 1
SUPERVISED_HEADS = 2
NO_SUPERVISED_HEADS = (
    "the model has no supervised attention heads; train one with "
    "--arch dependency_transformer or with --supervised-layer"
)


def supervised_head_log_probabilities(
    attention: MultiheadAttention, x: Tensor, key_padding_mask: Tensor
) -> Tensor:
    """Log-probabilities of the child head and the parent head (Wang et al., 2019, section 3.2).

    They are computed from the logits of the first two heads, which are projected a second time, at
    2/H of the cost of two projections. So the layer itself does not change: all its heads use the
    fused kernel. Inference does not compute them. They do not include the dropout of attention
    weights.

    Args:
        attention: a self-attention of H ≥ 2 heads.
        x: what the attention reads, S×B×C.
        key_padding_mask: B×S, True = masked.

    Returns:
        B×2×S×S in float32 at least: [:, 0] of the child head, [:, 1] of the parent head; rows are
        queries.
        Rows of pads are meaningless; columns of pads are −inf.
    """
    length, sentences, _ = x.shape
    width = SUPERVISED_HEADS * attention.head_dim

    def project(projection: torch.nn.Linear) -> Tensor:
        bias = None if projection.bias is None else projection.bias[:width]
        y = F.linear(x, projection.weight[:width], bias)
        y = y.view(length, sentences, SUPERVISED_HEADS, attention.head_dim)
        return y.permute(1, 2, 0, 3)  # S×B×2D -> B×2×S×D

    query, key = project(attention.q_proj), project(attention.k_proj)
    # A product of float16 numbers may be too large for float16.
    query, key = at_least_float32(query) * attention.scaling, at_least_float32(key)
    with torch.autocast(x.device.type, enabled=False):
        logits = torch.matmul(query, key.transpose(2, 3))
    logits = logits.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
    return F.log_softmax(logits, dim=-1)
