"""Constituents of a batch, and their values by hierarchical accumulation (Nguyen et al., 2020)."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.tree_pointers import node_spans

_TALLEST, _WIDEST = 50, 100  # rows of the embeddings; greater numbers count as these


class Constituents(NamedTuple):
    """The constituents of binary trees, from the bottom up; P a sentence, some of them missing.

    Attributes:
        covers: B×P×S, 1 where a token is in a constituent, else 0.
        within: B×P×P, [i, t] = 1 where t is i or within it, else 0.
        between: B×P×S, k(i, j): constituents from token j up to i, both in it; 0 outside i.
        places: B×P×S×R, how often the constituents from token j up to i read each embedding: first
            those of Ev, by the place of a constituent above j, from 1; then those of Eh, by the
            place of j in it, from 1.
        missing: B×P, True = no constituent.
    """

    covers: Tensor
    within: Tensor
    between: Tensor
    places: Tensor
    missing: Tensor

    @classmethod
    def of(
        cls, trees: Tensor, width: int, vertical: bool = True, horizontal: bool = True
    ) -> Constituents:
        """The constituents of a batch.

        Args:
            trees: B×P×3, left and right child and height, of
                :meth:`~syntax_nmt.data.annotation.trees.Trees.collate`.
            width: S.
            vertical: there are embeddings Ev.
            horizontal: there are embeddings Eh.
        """
        first, last = (columns[:, width:] for columns in node_spans(trees, width))
        columns = torch.arange(width, device=trees.device)
        is_in = columns.ge(first.unsqueeze(2)) & columns.le(last.unsqueeze(2))
        missing = trees[..., 2].lt(0)
        is_in &= ~missing.unsqueeze(2)
        covers = is_in.float()
        with torch.autocast(trees.device.type, enabled=False):
            shared = torch.matmul(covers, covers.transpose(1, 2))
        # Of two that share a token the earlier is within the later: they go from the bottom up.
        within = shared.gt(0).tril().float()
        between = covers.cumsum(dim=1) * covers
        place = columns - first.unsqueeze(2) + 1
        found = torch.cat(
            [
                _is_number(between.long(), min(trees.size(1), _TALLEST) if vertical else 0),
                _is_number(place * is_in, min(width, _WIDEST) if horizontal else 0),
            ],
            dim=3,
        )
        # In place: of long sentences this is the largest tensor, 4·B·P·S·R bytes.
        places = found.float().cumsum_(dim=1).mul_(covers.unsqueeze(3))
        return cls(covers, within, between, places, missing)

    def attention_bias(self, padding: Tensor, all_read_all: bool) -> Tensor:
        """What constituents attend to, to be added to logits, B×1×P×(S+P); −inf = masked.

        A constituent reads its tokens and those within it, itself among them. A missing one reads
        itself: a softmax needs one open position.

        Args:
            padding: B×S, True = pad.
            all_read_all: they read all tokens and constituents.
        """
        itself = torch.eye(self.missing.size(1), dtype=torch.bool, device=padding.device)
        if all_read_all:
            closed = torch.cat([padding, self.missing], dim=1).unsqueeze(1)
            closed = closed.expand(-1, len(itself), -1)
        else:
            closed = torch.cat([self.covers, self.within], dim=2).eq(0)
        opened = F.pad(itself, (padding.size(1), 0))
        bias = torch.zeros_like(closed, dtype=self.covers.dtype)
        return bias.masked_fill(closed & ~opened, float("-inf")).unsqueeze(1)


def _is_number(numbers: Tensor, most: int) -> Tensor:
    """One-hot vectors of numbers from 1, in a new dimension; greater ones count as `most`, 0 has
    no 1.
    """
    return (
        numbers.clamp(max=most).unsqueeze(-1).eq(torch.arange(1, most + 1, device=numbers.device))
    )


class Accumulation(nn.Module):
    """Values of constituents: upward cumulative average, then weighted aggregation.

    With values l_j of tokens and n_t of constituents, and constituents B(i, j) from token j up to
    i, k(i, j) in number:
    `S(i, j) = (l_j + Σ_{t ∈ B(i, j)} (n_t + E(t, j))) / (k(i, j) + 1)`, and
    `v_i = Σ_{j in i} w_j S(i, j) / |i|`, with weights w = x u of the tokens, one a head.
    `E(t, j) = [Ev[k(t, j)]; Eh[h(t, j)]]`, of the place of t above j and that of j in t, is the
    same for all heads.

    The numbers of rows of E are counted once a batch (:attr:`Constituents.places`), so that all of
    v is products of matrices, in float32.

    Args:
        width: of the states x of tokens.
        num_heads: H.
        head_dim: D.
        vertical: Ev is there; without it, its half of E is 0.
        horizontal: the same of Eh.
    """

    def __init__(
        self, width: int, num_heads: int, head_dim: int, vertical: bool, horizontal: bool
    ) -> None:
        super().__init__()
        self.weights = nn.Linear(width, num_heads, bias=False)  # u
        nn.init.xavier_uniform_(self.weights.weight)
        self.vertical_dim = head_dim // 2
        self.horizontal_dim = head_dim - self.vertical_dim
        self.vertical = _table(_TALLEST, self.vertical_dim) if vertical else None
        self.horizontal = _table(_WIDEST, self.horizontal_dim) if horizontal else None

    def forward(self, x: Tensor, values: Tensor, constituents: Constituents) -> Tensor:
        """v, B×H×P×D.

        Args:
            x: states of tokens, S×B×C.
            values: l of tokens, then n of constituents, B×H×(S+P)×D.
        """
        weights = at_least_float32(self.weights(x)).permute(1, 2, 0)  # B×H×S
        covers, within, between = (
            x.unsqueeze(1).type_as(weights)
            for x in (constituents.covers, constituents.within, constituents.between)
        )
        with torch.autocast(values.device.type, enabled=False):
            of_tokens, of_constituents = at_least_float32(values).split(
                (covers.size(3), covers.size(2)), dim=2
            )
            count = covers.sum(dim=3, keepdim=True).clamp(min=1)
            share = weights.unsqueeze(2) * (covers / ((between + 1) * count))  # B×H×P×S
            found = share @ of_tokens
            found = found + (within * (share @ covers.transpose(2, 3))) @ of_constituents
            embedded = self._embedded(share, constituents)
        return (found if embedded is None else found + embedded).type_as(values)

    def _embedded(self, share: Tensor, constituents: Constituents) -> Tensor | None:
        """What E adds, B×H×P×D; None = there are no embeddings."""
        if self.vertical is None and self.horizontal is None:
            return None
        # A product of H×S and S×R for each constituent.
        counted = (share.transpose(1, 2) @ constituents.places.type_as(share)).transpose(1, 2)
        rows = 0 if self.vertical is None else min(constituents.covers.size(1), _TALLEST)
        above, inside = counted.tensor_split((rows,), dim=3)
        halves = [
            counts.new_zeros(()).expand(*counts.shape[:3], size)
            if table is None
            else counts @ at_least_float32(table[: counts.size(3)])
            for counts, table, size in (
                (above, self.vertical, self.vertical_dim),
                (inside, self.horizontal, self.horizontal_dim),
            )
        ]
        return torch.cat(halves, dim=3)


def _table(rows: int, dim: int) -> nn.Parameter:
    """Embeddings as fairseq draws them."""
    return nn.Parameter(torch.randn(rows, dim) * max(dim, 1) ** -0.5)
