"""The combination of state, word and context before the output layer of an RNN decoder."""

import torch
from torch import Tensor, nn

LINEAR, MAXOUT, TANH = "linear", "maxout", "tanh"
READOUTS = (LINEAR, MAXOUT, TANH)


class Readout(nn.Module):
    """f(s_j, y_{j−1}, a_j) of equation 5 of Zhang et al. (2018).

    - `linear`: `W_s s + W_y y + W_a a + b`, the paper's;
    - `maxout`: the maximum of each pair of twice as many of these (Bahdanau et al., 2015);
    - `tanh`: their tanh (the dl4mt tutorial).

    Args:
        state_dim: width of s.
        word_dim: width of y.
        memory_dim: width of a.
        output_dim: width of the result.
        kind: `linear`, `maxout` or `tanh`.
    """

    def __init__(
        self, state_dim: int, word_dim: int, memory_dim: int, output_dim: int, kind: str
    ) -> None:
        super().__init__()
        self.kind = kind
        rows = 2 * output_dim if kind == MAXOUT else output_dim
        self.state = nn.Linear(state_dim, rows)
        self.word = nn.Linear(word_dim, rows, bias=False)
        self.context = nn.Linear(memory_dim, rows, bias=False)

    def forward(self, state: Tensor, word: Tensor, context: Tensor) -> Tensor:
        """The readout of each place.

        Args:
            state: …×state_dim.
            word: …×word_dim.
            context: …×memory_dim.

        Returns:
            …×output_dim.
        """
        total = self.state(state) + self.word(word) + self.context(context)
        if self.kind == MAXOUT:
            return total.unflatten(-1, (-1, 2)).amax(dim=-1)
        return torch.tanh(total) if self.kind == TANH else total

    def extra_repr(self) -> str:
        """The kind, for printing."""
        return self.kind
