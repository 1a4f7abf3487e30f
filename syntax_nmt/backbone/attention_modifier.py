"""Changes of the logits of a self-attention: the only hook for biases and factors."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor


class AttentionModifier(NamedTuple):
    """`softmax(factor ∘ Q Kᵀ / √D + bias) V` in place of `softmax(Q Kᵀ / √D) V`.

    An encoder or decoder builds it once per forward pass. Its layers pass the members to their
    self-attention as arguments of the same names. The members remain separate arguments, because
    activation checkpointing passes gradients only to tensors that are arguments themselves.

    Attributes:
        bias: B×H×T×S, or smaller to broadcast; −inf = masked. It replaces all masks, so it must
            mask pads and the future (:func:`close_pads`). Biases are joined by
            :func:`joined_biases`.
        factor: B×H×T×S, or smaller to broadcast. Masks are added.
    """

    bias: Optional[Tensor] = None
    factor: Optional[Tensor] = None

    def arguments(self) -> dict[str, Tensor]:
        """The members that change something, as keyword arguments."""
        return {name: x for name, x in self._asdict().items() if x is not None}


def joined_biases(lower: Tensor, upper: Tensor) -> Tensor:
    """The sum of two biases; where it would close every key to a query, the upper one alone.

    A method may leave a query one open key, such as its head in a given tree. If a window or a
    closed gate masks that key, the sum masks all keys, and a softmax of it fails.

    Args:
        lower: B×H×T×S, or smaller to broadcast; −inf = masked.
        upper: of the method that acts later; it leaves every query a key.
    """
    both = lower + upper
    return torch.where(both.isneginf().all(dim=-1, keepdim=True), upper, both)


def close_pads(bias: Tensor, padding: Tensor | None) -> Tensor:
    """A bias through which no query attends to a pad; a pad's own row stays open at the pad.

    The rows of pads are not read, but a softmax needs one open position.

    Args:
        bias: T×S, H×T×S or B×H×T×S; the queries are the last T of the S positions.
        padding: B×S, True = pad; None = there are none.

    Returns:
        B×H×T×S, or `bias` itself without pads.
    """
    if padding is None:
        return bias
    queries, keys = bias.shape[-2:]
    closed = bias.masked_fill(padding[:, None, None, :], float("-inf"))
    own = closed.diagonal(keys - queries, dim1=2, dim2=3)
    own.masked_fill_(padding[:, None, -queries:], 0.0)
    return closed
