"""Gated recurrent networks: over whole sentences without pads, and one step, for which the caller
computes the products.
"""

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.packing import PackedRows

GATES = 3  # reset, update, candidate: the order of torch's GRUCell


FORWARD, BACKWARD, BOTH = "forward", "backward", "both"


def gru_step(inputs: Tensor, hidden: Tensor, state: Tensor) -> Tensor:
    """The next state of a GRU (Cho et al., 2014, in torch's and cuDNN's form).

    ``r = σ(i_r + h_r);  z = σ(i_z + h_z);  n = tanh(i_n + r ∘ h_n);
    next = (1 − z) ∘ n + z ∘ state``

    The caller computes the products, because those that do not depend on the recurrence can be
    computed for all steps at once. On a GPU this function is one kernel.

    Args:
        inputs: N×3C, i = W x + b.
        hidden: N×3C, h = U · state.
        state: N×C.

    Returns:
        N×C.
    """
    if state.is_cuda:
        return torch.ops.aten._thnn_fused_gru_cell(inputs, hidden, state)[0]
    gates = 2 * state.size(-1)
    r, z = torch.sigmoid(inputs[..., :gates] + hidden[..., :gates]).chunk(2, dim=-1)
    n = torch.tanh(inputs[..., gates:] + r * hidden[..., gates:])
    return n + z * (state - n)


class SentenceGRU(nn.Module):
    """torch's fused GRU (Cho et al., 2014) forward, backward, or both.

    Args:
        input_dim: width of what it reads.
        state_dim: C, units in one direction.
        direction: `forward`, `backward` or `both`, whose states are concatenated.
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
