"""The biaffine scorer of a supervised head (Deguchi et al., 2019)."""

import math

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.head_scorer import HeadScorer


class BiaffineHead(HeadScorer):
    """`s_ij = (W q_i)·k_j / √D + b·k_j` in place of `q_i·k_j / √D`.

    The query is `W q_i + √D b`; the keys stay, so that a search caches what training reads.
    """

    def __init__(self, head: int, head_dim: int) -> None:
        super().__init__(head, head_dim)
        self.weight = nn.Parameter(torch.empty(head_dim, head_dim))
        self.bias = nn.Parameter(torch.zeros(head_dim))
        nn.init.xavier_uniform_(self.weight, gain=1 / math.sqrt(2))

    def queries(self, x: Tensor, projected: Tensor) -> Tensor:
        """`W q + √D b`, T×B×D.

        Args:
            x: not read.
            projected: q, T×B×D.
        """
        return nn.functional.linear(projected, self.weight, math.sqrt(self.head_dim) * self.bias)
