"""The mean of a sentence's vectors over its real words."""

from __future__ import annotations

from torch import Tensor


def mean_of_words(states: Tensor, padding: Tensor) -> Tensor:
    """The mean over real positions, EOS included, whatever the batch is padded to.

    Args:
        states: B×S×C.
        padding: B×S, True = pad.

    Returns:
        B×C.
    """
    total = states.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1)
    return total / (~padding).sum(dim=1, keepdim=True).to(total.dtype)
