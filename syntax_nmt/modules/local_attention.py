"""Attention to near positions alone, an ablation of latent phrases (Cui et al., 2019)."""

from __future__ import annotations

import torch
from torch import Tensor


def local_attention_mask(length: int, window: int, like: Tensor) -> Tensor:
    """The mask that hides every |i − j| > window, S×S; −inf = masked.

    Args:
        length: S.
        window: neighbours that are seen on either side.
        like: gives device and type.
    """
    hidden = torch.full((length, length), float("-inf"), device=like.device, dtype=like.dtype)
    return hidden.triu(window + 1) + hidden.tril(-window - 1)
