"""The mean of a sentence's vectors over its real words."""

from __future__ import annotations

import torch
from torch import Tensor


def mean_of_words(states: Tensor, padding: Tensor) -> Tensor:
    """The mean over real positions, EOS included, whatever the batch is padded to.

    The sum is taken in float32 at least: in float16 that of a long sentence may not exist.

    Args:
        states: B×S×C.
        padding: B×S, True = pad.

    Returns:
        B×C.
    """
    exact = torch.promote_types(states.dtype, torch.float32)
    total = states.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1, dtype=exact)
    return (total / (~padding).sum(dim=1, keepdim=True)).to(states.dtype)
