"""Gated recurrent networks: over whole sentences without pads, and one step, for which the caller
computes the products.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from syntax_nmt.backbone.packing import PackedRows

aten = torch.ops.aten

GATES = 3  # reset, update, candidate: the order of torch's GRUCell


FORWARD, BACKWARD, BOTH = "forward", "backward", "both"


def gru_step(inputs: Tensor, hidden: Tensor, state: Tensor) -> Tensor:
    """The next state of a GRU (Cho et al., 2014, in torch's and cuDNN's form).

    ``r = σ(i_r + h_r);  z = σ(i_z + h_z);  n = tanh(i_n + r ∘ h_n);
    next = (1 − z) ∘ n + z ∘ state``

    The caller computes the products, because those that do not depend on the recurrence can be
    computed for all steps at once. On a GPU this function is one kernel; elsewhere its derivative
    is written out, which takes a third of the operations of the recorded one.

    Args:
        inputs: N×3C, i = W x + b.
        hidden: N×3C, h = U · state.
        state: N×C.

    Returns:
        N×C.
    """
    if state.is_cuda:
        return torch.ops.aten._thnn_fused_gru_cell(inputs, hidden, state)[0]
    kind = torch.promote_types(torch.promote_types(inputs.dtype, hidden.dtype), state.dtype)
    return _GRUStep.apply(inputs.to(kind), hidden.to(kind), state.to(kind))


def square_matrices(*weights: Tensor, count: int = GATES) -> Iterator[Tensor]:
    """The matrices by which gates multiply a state, C×C: the first rows of each weight.

    Args:
        *weights: N×C each, at least count·C rows.
    """
    for weight in weights:
        size = weight.size(1)
        yield from weight.detach()[: count * size].split(size)


class _GRUStep(torch.autograd.Function):
    """:func:`gru_step` of three tensors of one type."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, hidden: Tensor, state: Tensor) -> Tensor:
        both = 2 * state.size(-1)
        gates = (inputs[..., :both] + hidden[..., :both]).sigmoid_()
        r, z = gates.chunk(2, dim=-1)
        read = hidden[..., both:]
        n = torch.addcmul(inputs[..., both:], r, read).tanh_()
        ctx.save_for_backward(gates, n, read, state)
        return torch.lerp(n, state, z)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        gates, n, read, state = ctx.saved_tensors
        (gradient,) = gradients
        r, z = gates.chunk(2, dim=-1)
        of_state = gradient * z
        of_inputs = gradient.new_empty(*state.shape[:-1], GATES * state.size(-1))
        of_r, of_z, of_n = of_inputs.chunk(GATES, dim=-1)
        aten.tanh_backward.grad_input(gradient - of_state, n, grad_input=of_n)
        torch.mul(of_n, read, out=of_r)
        torch.mul(gradient, state - n, out=of_z)
        of_gates = of_inputs[..., : gates.size(-1)]
        aten.sigmoid_backward.grad_input(of_gates, gates, grad_input=of_gates)
        of_hidden = of_inputs.clone()
        of_hidden[..., gates.size(-1) :].mul_(r)
        return of_inputs, of_hidden, of_state


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
