"""Dependency-supervised self-attention: the two heads, and the loss that trains them on parses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import (
    AuxiliaryObjective,
    Sample,
    detached_sum,
    log_average,
    log_percentage,
)
from syntax_nmt.methods.parent_heads import masked_log_softmax, parent_head_losses

CHILD_HEAD, PARENT_HEAD = 0, 1
SUPERVISED_HEADS = 2
SUPERVISED = "supervised_heads"  # log-probabilities of both heads among what the model returns
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
    return masked_log_softmax(logits, key_padding_mask)


class DependencyObjective(AuxiliaryObjective):
    """`α·Lc + β·Lp` of Wang et al. (2019), equations 4 to 7.

    `Lp = −Σ_i log Pp[i, parent(i)]`, where the root is its own parent.
    `Lc = −Σ_i Σ_j Wc[i, j] log Pc[i, j]`, where `Wc[i, j] = 1/n_i` for the n_i children j of i, and
    `Wc[i, i] = 1` for a leaf. Neither matrix is built: one gather along the head indices gives both
    sums. Tokens of sentences without a parse, EOS and pads do not count.

    Args:
        child_weight: α.
        parent_weight: β.
    """

    reads_annotation = (HEADS,)
    options = (
        "--criterion dependency_cross_entropy, or --child-weight and --parent-weight to "
        "syntax_cross_entropy"
    )

    def __init__(self, child_weight: float, parent_weight: float) -> None:
        self.child_weight = child_weight
        self.parent_weight = parent_weight

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> DependencyObjective | None:
        """Builds the objective; None = both weights are 0.

        Args:
            task: not used.
        """
        if options.child_weight == options.parent_weight == 0:
            return None
        return cls(options.child_weight, options.parent_weight)

    def __call__(self, extra: Mapping[str, Any], sample: Sample) -> tuple[Tensor, dict[str, Any]]:
        """Computes the loss of a batch.

        Args:
            extra: has `supervised_heads`, B×2×S×S.
            sample: has `heads`, B×S: the column of each token's parent, a root's own column, −1
                where a token is not supervised.

        Returns:
            the weighted loss summed over the supervised tokens, and sums for the log.

        Raises:
            UserError: the model has no supervised heads, or the batch no head indices.
        """
        if SUPERVISED not in extra:
            raise UserError(NO_SUPERVISED_HEADS)
        if HEADS.key not in sample:
            raise UserError(
                "the criterion needs the parses of the source: add --load-dependencies "
                "(`syntax-nmt prepare` or `syntax-nmt binarize` makes them)"
            )
        log_probabilities, heads = extra[SUPERVISED], sample[HEADS.key].long()
        child_losses = child_head_losses(log_probabilities[:, CHILD_HEAD], heads)
        parent_losses, attached = parent_head_losses(log_probabilities[:, PARENT_HEAD], heads)
        child_loss, parent_loss = child_losses.sum(), parent_losses.sum()
        logs = {
            "child_loss": detached_sum(child_loss),
            "parent_loss": detached_sum(parent_loss),
            "attached": detached_sum(attached),
            "supervised": detached_sum(heads.ge(0)),
            "source_words": detached_sum(sample["net_input"]["src_lengths"] - 1),  # without EOS
        }
        return self.child_weight * child_loss + self.parent_weight * parent_loss, logs

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs both losses per supervised token, attachment accuracy and the supervised share.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        supervised = total("supervised")
        log_average("child_loss", total("child_loss"), supervised)
        log_average("parent_loss", total("parent_loss"), supervised)
        log_percentage("uas", total("attached"), supervised)
        log_percentage("supervised", supervised, total("source_words"))


def child_head_losses(log_probabilities: Tensor, heads: Tensor) -> Tensor:
    """Each token's part of Lc: as a child, its share of its parent's row; as a leaf, its own row.

    Args:
        log_probabilities: of the child head, B×S×S.
        heads: B×S; −1 = not supervised.

    Returns:
        losses, B×S, 0 where not supervised.
    """
    supervised = heads.ge(0)
    parents = heads.clamp(min=0)
    columns = torch.arange(heads.size(1), device=heads.device)
    is_child = supervised & parents.ne(columns)  # a root's link to itself is not a child link
    children = torch.zeros_like(log_probabilities[:, 0])
    children.scatter_add_(1, parents, is_child.to(children))

    as_child = log_probabilities.gather(1, parents.unsqueeze(1)).squeeze(1)  # Pc[parent(j), j]
    as_child = as_child / children.gather(1, parents).clamp(min=1)
    as_leaf = log_probabilities.diagonal(dim1=1, dim2=2)
    is_leaf = supervised & children.eq(0)
    # Selected, not multiplied by 0: unselected values may be −inf.
    return -(as_child.masked_fill(~is_child, 0.0) + as_leaf.masked_fill(~is_leaf, 0.0))
