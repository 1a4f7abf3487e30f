"""A gated recurrent network over whole sentences, in which pads do not exist."""

from __future__ import annotations

from torch import Tensor, nn

from syntax_nmt.modules.packed_rows import PackedRows

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"


class SentenceGRU(nn.Module):
    """torch's fused GRU (Cho et al., 2014) from the first word on, from the last, or both.

    Args:
        input_dim: width of what it reads.
        state_dim: C, units in one direction.
        direction: `forward`, `backward` or `both`, whose states stand side by side.
    """

    def __init__(self, input_dim: int, state_dim: int, direction: str) -> None:
        super().__init__()
        self.direction = direction
        self.gru = nn.GRU(input_dim, state_dim, bidirectional=direction == BOTH)
        self.output_dim = 2 * state_dim if direction == BOTH else state_dim

    def forward(self, states: Tensor, rows: PackedRows) -> Tensor:
        """The states of the network after each word.

        Args:
            states: B×S×input_dim.
            rows: where the batch's words are.

        Returns:
            B×S×output_dim, zero at pads.
        """
        backward = self.direction == BACKWARD
        packed, _ = self.gru(rows.pack(states, backward))
        return rows.unpack(packed, backward)

    def extra_repr(self) -> str:
        """The direction, for printing."""
        return self.direction
