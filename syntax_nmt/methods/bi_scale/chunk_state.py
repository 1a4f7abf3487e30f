"""The chunk state of the bi-scale decoder, which changes where a chunk begins, and the gate that
decides where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from syntax_nmt.backbone.additive_attention import AdditiveAttention, AttentionMemory
from syntax_nmt.backbone.gru import GATES, gru_step, square_matrices
from syntax_nmt.backbone.repeated_product import StepLinear, split_after

INSIDE, OPENS = 0, 1  # the classes: b = 0 and b = 1


@dataclass(frozen=True)
class ChunkState:
    """The state that the words of a chunk share and the next chunk starts from.

    Attributes:
        state: p, N×chunk_dim.
        weights: of the chunk's attention, N×S.
        opened: m(s~) of the step that opened the chunk, N×chunk_dim; zero before the first.
    """

    state: Tensor
    weights: Tensor
    opened: Tensor

    def cached(self) -> dict[str, Tensor]:
        """The state, for the cache of a search."""
        return {f"chunk_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def out_of(cls, cache: Mapping[str, Tensor]) -> ChunkState:
        """The state that :meth:`cached` kept.

        Args:
            cache: of a search; its rows may have been rearranged.
        """
        return cls(*(cache[f"chunk_{field.name}"] for field in fields(cls)))


class ChunkStateGRU(nn.Module):
    """A conditional GRU over chunks (Zhou et al., 2017, Section 3).

    Where a chunk opens, `e = m(s~_t) − m(s~_{t'})` represents the previous chunk, which opened at
    t' (LSTM-minus; at the first chunk m(s~_{t'}) is 0); `p~ = GRU1(e, p_{t−1})`, `pc` is the
    attention from p~ and `p_t = GRU2(pc, p~)`. Elsewhere p and pc are those of the previous step.
    All rows of a batch are computed at every step and the result is dropped where no chunk opens:
    attention over selected sentences would copy their memory at every step.

    Args:
        state_dim: C, width of the word clock's s~.
        chunk_dim: width of p and of e.
        memory_dim: M, width of the encoder's states.
        attention_dim: A.
        context_every_step: compute pc at every step, also within a chunk, from the p~ that would
            open one (the released code).
    """

    def __init__(
        self,
        state_dim: int,
        chunk_dim: int,
        memory_dim: int,
        attention_dim: int,
        context_every_step: bool = False,
    ) -> None:
        super().__init__()
        self.chunk_dim = chunk_dim
        self.context_every_step = context_every_step
        self.difference = nn.Linear(state_dim, chunk_dim, bias=False)  # m
        self.input_projection = StepLinear(chunk_dim, GATES * chunk_dim)  # of GRU1, reads e
        self.hidden_projection = nn.Linear(chunk_dim, GATES * chunk_dim, bias=False)
        self.attention = AdditiveAttention(memory_dim, attention_dim)
        self.context_projection = nn.Linear(memory_dim, GATES * chunk_dim)  # of GRU2, reads pc
        # Rows: the hidden product of GRU2, then the attention's query.
        self.query_projection = StepLinear(chunk_dim, GATES * chunk_dim + attention_dim, bias=False)

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps that :meth:`step` applies."""
        return (self.input_projection, self.query_projection)

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply states."""
        return square_matrices(self.hidden_projection.weight, self.query_projection.weight)

    def start(self, state: Tensor, memory: AttentionMemory) -> ChunkState:
        """The state before the first step, at which a chunk opens in every row.

        Args:
            state: p_0, N×chunk_dim.
        """
        return ChunkState(
            state=state,
            weights=state.new_zeros(len(state), memory.padding.size(1)),
            opened=torch.zeros_like(state),
        )

    def step(
        self,
        ending: Tensor,
        hidden: Tensor,
        opens: Tensor,
        before: ChunkState,
        memory: AttentionMemory,
    ) -> tuple[ChunkState, Tensor, Tensor]:
        """One step of all rows.

        Args:
            ending: :attr:`difference` of s~, N×chunk_dim.
            hidden: :attr:`hidden_projection` of p before the step, N×3·chunk_dim.
            opens: N×1, True = a chunk opens.
            memory: its values are the input of GRU2 from pc, 3·chunk_dim wide, then that of the
                word clock, context_dim wide.

        Returns:
            the next state; e, N×chunk_dim, meaningful only where a chunk opens; and pc as the word
            clock reads it, N×context_dim.
        """
        chunk = ending - before.opened  # e
        query = gru_step(self.input_projection(chunk), hidden, before.state)  # p~
        gates = GATES * self.chunk_dim
        hidden, attended = split_after(gates, self.query_projection(query))
        weights = self.attention(attended, memory)
        if not self.context_every_step:
            # Where no chunk opens, the same weights give the context of the previous step again.
            weights = _Chosen.apply(opens, weights, before.weights)
        read, context = split_after(gates, memory.input_of(weights))
        updated = gru_step(read, hidden, query)
        after = ChunkState(
            state=_Chosen.apply(opens, updated, before.state),
            weights=weights,
            opened=_Chosen.apply(opens, ending, before.opened),
        )
        return after, chunk, context


class _Chosen(torch.autograd.Function):
    """`torch.where`, with two kernels in place of three for its gradients."""

    @staticmethod
    def forward(ctx: Any, opens: Tensor, new: Tensor, before: Tensor) -> Tensor:
        ctx.save_for_backward(opens)
        return torch.where(opens, new, before)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (opens,), (gradient,) = ctx.saved_tensors, gradients
        of_new = gradient * opens
        return None, of_new, gradient - of_new


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
