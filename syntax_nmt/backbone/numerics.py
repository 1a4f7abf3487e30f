"""The precision of losses, probabilities and means; zeros with gradients."""

from collections.abc import Iterable

import torch
from torch import Tensor

EXACT = (torch.float32, torch.float64)  # sums of thousands of numbers are accurate


def exact_type(x: Tensor) -> torch.dtype:
    """float32, or the tensor's own type if it is more precise.

    Args:
        x: of any floating type, or a mask.
    """
    return torch.promote_types(x.dtype, torch.float32)


def at_least_float32(x: Tensor) -> Tensor:
    """The tensor in float32, or unchanged if its type is more precise.

    Args:
        x: of any floating type.
    """
    return x.to(exact_type(x))


def mean_of_words(states: Tensor, padding: Tensor) -> Tensor:
    """The mean over real positions, EOS included, for any padding.

    The sum is computed in float32 at least: that of a long sentence may be too large for float16.

    Args:
        states: B×S×C.
        padding: B×S, True = pad.

    Returns:
        B×C.
    """
    total = states.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1, dtype=exact_type(states))
    return (total / (~padding).sum(dim=1, keepdim=True)).to(states.dtype)


def with_gradients_of(x: Tensor, unread: Iterable[Tensor]) -> Tensor:
    """A tensor, unchanged, that gives gradients of zeros to others, which no loss may read.

    Training on several workers waits for the gradients of all parameters. An empty slice is 0 even
    of infinite numbers, which `0 ·` is not.
    """
    return x + sum(each.flatten()[:0].sum() for each in unread)
