"""The boundary gate of the bi-scale decoder: does a new chunk begin before the next word?"""

from __future__ import annotations

import torch
from torch import Tensor, nn

INSIDE, OPENS = 0, 1  # the classes: b = 0 and b = 1


class BoundaryGate(nn.Module):
    """`P(b_t) = softmax(W2 · tanh(W1 [s~_t; y_{t−1}] + b1) + b2)` (Zhou et al., 2017, equation 8).

    The caller multiplies the words y with their half of W1, for all steps at once.

    Args:
        state_dim: C, width of s~.
        word_dim: E, width of y.
        hidden_dim: rows of W1.
    """

    def __init__(self, state_dim: int, word_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.word = nn.Linear(word_dim, hidden_dim)
        self.state = nn.Linear(state_dim, hidden_dim, bias=False)
        self.output = nn.Linear(hidden_dim, 2)

    def forward(self, state: Tensor, word: Tensor) -> Tensor:
        """The logits of the two classes.

        Args:
            state: s~, …×C.
            word: :attr:`word` of y, …×hidden_dim.

        Returns:
            …×2.
        """
        return self.output(torch.tanh(self.state(state) + word))


def opens(logits: Tensor) -> Tensor:
    """The greedy choice, which has no gradient: True = a chunk opens.

    Args:
        logits: …×2.
    """
    return logits[..., OPENS] > logits[..., INSIDE]
