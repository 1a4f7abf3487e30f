"""Numbers that a loss or a probability is computed in."""

from __future__ import annotations

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
