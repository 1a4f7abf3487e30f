"""Attention heads that learn each token's head in a dependency tree: weights, loss and its log.

Also the labels of the arcs that they find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.data.annotation.columns import EMPTY, UNKNOWN
from syntax_nmt.methods.objective import log_average, log_percentage

ROOT = "root"
NO_LABELS, FULL, UNIVERSAL = "none", "full", "universal"
LABELS = (NO_LABELS, FULL, UNIVERSAL)
_SLOPE = 0.1


def first_heads(
    attention: FusedMultiheadAttention, x: Tensor, heads: int, closed: Tensor
) -> Tensor:
    """Log-probabilities of the first heads of a self-attention.

    They are projected a second time, at heads/H of the cost of two projections. So the layer itself
    does not change: all its heads use the fused kernel. Inference does not compute them. They do
    not include biases, gates and the dropout of attention weights.

    Args:
        x: what it reads, T×B×C.
        heads: how many.
        closed: B×T×T, or smaller to broadcast; True = masked. Each row has an open column.

    Returns:
        B×heads×T×T in float32 at least; rows are queries. Masked columns are −inf.
    """
    length, sentences, _ = x.shape
    width = heads * attention.head_dim

    def projected(projection: torch.nn.Linear) -> Tensor:
        bias = None if projection.bias is None else projection.bias[:width]
        return F.linear(x, projection.weight[:width], bias)

    query, key = projected(attention.q_proj), projected(attention.k_proj)
    if attention.scorer is not None and attention.scorer.head < heads:
        query, key = attention.scorer.with_queries(x, query), attention.scorer.with_keys(x, key)
    query, key = (
        y.view(length, sentences, heads, -1).permute(1, 2, 0, 3) for y in (query, key)
    )  # T×B×(heads·D) -> B×heads×T×D
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


class ArcLabels(NamedTuple):
    """What scores the labels of a batch's arcs, without a number for each pair of tokens and label.

    Attributes:
        names: R labels.
        classes: of the label with the id k in annotation, its number among `names` at k − 1.
        of_pairs: B×S×R×p, meets the governor's view.
        alone: B×S×R, of the dependent alone.
        governors: B×S×p.
    """

    names: tuple[str, ...]
    classes: Tensor
    of_pairs: Tensor
    alone: Tensor
    governors: Tensor

    def logits(self, heads: Tensor) -> Tensor:
        """The logits of each token's arc, B×S×R.

        Args:
            heads: B×S, the column of each token's head.
        """
        width = self.governors.size(-1)
        met = self.governors.gather(1, heads.unsqueeze(-1).expand(-1, -1, width))
        return torch.matmul(self.of_pairs, met.unsqueeze(-1)).squeeze(-1) + self.alone

    def best(self, row: int, words: int) -> Tensor:
        """The best label of every pair of a sentence, `[dependent, head]`, words×words.

        An arc from a token to itself is a root's; no other arc is `root`.

        Args:
            row: its place in the batch.
            words: the number of tokens.
        """
        pairs, alone = self.of_pairs[row, :words], self.alone[row, :words]
        logits = torch.einsum("irp,jp->ijr", pairs, self.governors[row, :words])
        logits = logits + alone.unsqueeze(1)
        never = [name in (ROOT, UNKNOWN, EMPTY) for name in self.names]
        logits = logits.masked_fill(torch.tensor(never, device=logits.device), float("-inf"))
        best = logits.argmax(dim=-1)
        if ROOT in self.names:
            best.fill_diagonal_(self.names.index(ROOT))
        return best

    def earlier(self) -> ArcLabels:
        """The same one column to the left, the first at the end."""
        parts = (each.roll(-1, 1) for each in (self.of_pairs, self.alone, self.governors))
        return ArcLabels(self.names, self.classes, *parts)


class ArcLabelScorer(nn.Module):
    """`z_ij[r] = d_iᵀ U_r e_j + V_r [d_i; e_j] + c_r` (Dozat and Manning, 2017, equation 3).

    `d = LeakyReLU(W_d x + b_d)` sees a token as a dependent and `e = LeakyReLU(W_e x + b_e)` as a
    head. U, V and c begin as zeros: all labels are equally likely.

    Args:
        embed_dim: C.
        dim: p.
        labels: of the annotation, in the order of their ids.
        which: of :data:`LABELS`: with the subtypes of relations, or without.
    """

    classes: Tensor

    def __init__(self, embed_dim: int, dim: int, labels: Sequence[str], which: str) -> None:
        super().__init__()
        of_labels = [x.partition(":")[0] if which == UNIVERSAL else x for x in labels]
        self.names = tuple(dict.fromkeys(of_labels))
        classes = torch.tensor([self.names.index(name) for name in of_labels])
        self.register_buffer("classes", classes, persistent=False)
        self.dependent, self.governor = nn.Linear(embed_dim, dim), nn.Linear(embed_dim, dim)
        for view in (self.dependent, self.governor):
            nn.init.xavier_uniform_(view.weight)
            nn.init.zeros_(view.bias)
        # U and the right half of V, which meet e; and the left half with c.
        self.of_pairs = nn.Linear(dim, len(self.names) * dim)
        self.alone = nn.Linear(dim, len(self.names))
        for output in (self.of_pairs, self.alone):
            nn.init.zeros_(output.weight)
            nn.init.zeros_(output.bias)

    def forward(self, x: Tensor) -> ArcLabels:
        """What scores the arcs.

        Args:
            x: S×B×C.
        """
        x = x.transpose(0, 1)
        dependent = F.leaky_relu(self.dependent(x), _SLOPE)
        pairs = self.of_pairs(dependent).unflatten(-1, (len(self.names), -1))
        governor = F.leaky_relu(self.governor(x), _SLOPE)
        return ArcLabels(self.names, self.classes, pairs, self.alone(dependent), governor)


def label_losses(
    arcs: ArcLabels, heads: Tensor, labels: Tensor, opens: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The cross-entropy of the labels of gold arcs, and masks of right and of supervised tokens.

    Args:
        heads: B×S, −1 = not supervised.
        labels: ids in annotation, B×S, from 1; less = not supervised.
        opens: B×S, True = the first subword of its word; others are not supervised.

    Returns:
        the sum over the supervised tokens; two masks, B×S.
    """
    supervised = heads.ge(0) & labels.ge(1) & opens
    classes = arcs.classes[(labels - 1).clamp(min=0)]
    logits = at_least_float32(arcs.logits(heads.clamp(min=0)))
    losses = F.cross_entropy(logits.flatten(0, 1), classes.flatten(), reduction="none")
    right = logits.argmax(dim=-1).eq(classes) & supervised
    return losses.view_as(heads).masked_fill(~supervised, 0.0).sum(), right, supervised
