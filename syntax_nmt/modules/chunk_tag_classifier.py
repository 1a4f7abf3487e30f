"""The type of a chunk, predicted where it opens."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ChunkTagClassifier(nn.Module):
    """`softmax(W · tanh(W_p p_t + W_e e + W_c pc) + b)` (Zhou et al., 2017, Section 4).

    Args:
        state_dim: width of the chunk state p.
        chunk_dim: width of e, the representation of the previous chunk.
        memory_dim: M, width of the chunk's context pc.
        hidden_dim: rows of W_p, W_e and W_c.
        classes: one for each type of chunk, and the last one for the end of the sentence.
    """

    def __init__(
        self, state_dim: int, chunk_dim: int, memory_dim: int, hidden_dim: int, classes: int
    ) -> None:
        super().__init__()
        self.state = nn.Linear(state_dim, hidden_dim)
        self.chunk = nn.Linear(chunk_dim, hidden_dim, bias=False)
        self.context = nn.Linear(memory_dim, hidden_dim, bias=False)
        self.output = nn.Linear(hidden_dim, classes)

    def forward(self, state: Tensor, chunk: Tensor, context: Tensor) -> Tensor:
        """The logits of the types; class k − 1 is tag id k.

        Args:
            state: p, …×state_dim.
            chunk: e, …×chunk_dim.
            context: pc, …×M.

        Returns:
            …×classes.
        """
        hidden = self.state(state) + self.chunk(chunk) + self.context(context)
        return self.output(torch.tanh(hidden))
