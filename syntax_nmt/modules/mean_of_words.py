"""The mean of a sentence's vectors over its real words."""

from __future__ import annotations

import torch
from torch import Tensor


def mean_of_words(states: Tensor, padding: Tensor) -> Tensor:
    """The mean over real positions, EOS included, whatever the batch is padded to.

    The sum is computed in float32 at least: that of a long sentence may be too large for float16.

    Args:
        states: B×S×C.
        padding: B×S, True = pad.

    Returns:
        B×C.
    """
    exact = torch.promote_types(states.dtype, torch.float32)
    total = states.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1, dtype=exact)
    return (total / (~padding).sum(dim=1, keepdim=True)).to(states.dtype)
