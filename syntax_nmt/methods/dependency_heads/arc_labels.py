"""The labels of the arcs that supervised heads find: a biaffine scorer and its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.data.annotation.columns import EMPTY, UNKNOWN

ROOT = "root"
NO_LABELS, FULL, UNIVERSAL = "none", "full", "universal"
LABELS = (NO_LABELS, FULL, UNIVERSAL)
_SLOPE = 0.1


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
