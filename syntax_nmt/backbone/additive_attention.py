"""Additive attention over a sentence whose keys are projected once."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.backbone.repeated_product import RepeatedProduct

Memory = TypeVar("Memory", bound="AttentionMemory")


@dataclass(frozen=True)
class AttentionMemory:
    """The values that a decoder stores for each source sentence, computed once.

    Attributes:
        keys: B×S×A, U h.
        values: B×S×width, the input of the recurrence from the encoder's states.
        encoded: B×S×M, h.
        padding: B×S, True = pad.
    """

    keys: Tensor
    values: Tensor
    encoded: Tensor
    padding: Tensor

    @cached_property
    def scratch(self) -> Tensor:
        """Memory for the largest intermediate result of a step, shared by all steps.

        Allocating and freeing so large a tensor at every step would fragment the memory.
        """
        return self.keys.new_empty(0)

    def with_keys(self: Memory, keys: Tensor, padding: Tensor) -> Memory:
        """A memory of the same sentences with other keys.

        Args:
            keys: N×S×A.
            padding: N×S, True = pad.
        """
        other = replace(self, keys=keys, padding=padding)
        # One gradient of the values for all steps, and one place for intermediate results.
        other.__dict__.update(_weighted=self._weighted, scratch=self.scratch)
        return other

    @cached_property
    def _weighted(self) -> RepeatedProduct:
        return RepeatedProduct(self.values)

    def input_of(self, weights: Tensor) -> Tensor:
        """Weighted sums of :attr:`values`, the input of a step.

        Args:
            weights: N×S; hypotheses of one sentence are adjacent; N is a multiple of B.

        Returns:
            N×width.
        """
        grouped = weights.view(self.values.size(0), -1, self.values.size(1))
        return self._weighted(grouped).flatten(0, 1)


class AdditiveAttention(nn.Module):
    """`α_i = softmax_i(v · tanh(W s + U h_i))` (Bahdanau et al., 2015; Zhang et al., 2018, eq. 2).

    The caller computes `W s`, in one product with the gates that read the same state. The
    hypotheses of a search share the keys `U h` of their sentence.

    The backward pass recomputes `tanh(W s + U h)`, which would take T·S·A numbers per sentence.

    Args:
        memory_dim: M, width of the encoder's states h.
        attention_dim: A, rows of W and U.
    """

    def __init__(self, memory_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.key_projection = nn.Linear(memory_dim, attention_dim, bias=False)
        self.score = nn.Parameter(torch.empty(attention_dim).uniform_(-0.1, 0.1))

    def forward(self, query: Tensor, memory: AttentionMemory) -> Tensor:
        """The weights of each query, in float32 at least.

        Args:
            query: N×A, W s; those of one sentence are adjacent; N is a multiple of B.
            memory: of B sentences.

        Returns:
            N×S, zero at pads.
        """
        keys = memory.keys.unsqueeze(1)  # B×1×S×A
        grouped = query.view(keys.size(0), -1, 1, keys.size(-1))  # B×(N/B)×1×A
        score = self.score.to(keys.dtype)
        closed = memory.padding.unsqueeze(1)  # B×1×S
        scores = _Scores.apply(grouped, keys, score, closed, memory.scratch)
        return scores.softmax(dim=-1, dtype=exact_type(scores)).flatten(0, 1)


class _Scores(torch.autograd.Function):
    """`v · tanh(q + k)`, which stores only its inputs for the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, keys: Tensor, score: Tensor, closed: Tensor, scratch: Tensor
    ) -> Tensor:
        ctx.save_for_backward(query, keys, score)
        hidden = torch.add(query, keys, out=scratch).tanh_()
        # The gradient of softmax is 0 at pads: none is masked there.
        return (hidden @ score).masked_fill_(closed, -math.inf)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        query, keys, score = ctx.saved_tensors
        (gradient,) = gradients  # B×(N/B)×S
        hidden = (query + keys).tanh_()
        of_score = gradient.flatten() @ hidden.flatten(0, 2)
        of_sum = torch.ops.aten.tanh_backward(gradient.unsqueeze(-1) * score, hidden)
        of_keys = of_sum if query.size(1) == 1 else of_sum.sum(dim=1, keepdim=True)
        return of_sum.sum(dim=2, keepdim=True), of_keys, of_score, None, None
