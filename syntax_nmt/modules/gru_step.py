"""One step of a gated recurrent network whose products are computed by the caller."""

from __future__ import annotations

import torch
from torch import Tensor

GATES = 3  # reset, update, candidate: the order of torch's GRUCell


def gru_step(inputs: Tensor, hidden: Tensor, state: Tensor) -> Tensor:
    """The next state of a GRU (Cho et al., 2014, in torch's and cuDNN's form).

    ``r = σ(i_r + h_r);  z = σ(i_z + h_z);  n = tanh(i_n + r ∘ h_n);
    next = (1 − z) ∘ n + z ∘ state``

    The caller computes the products, as those that do not depend on the recurrence can be computed
    for all steps at once. On a GPU this function is one kernel.

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
