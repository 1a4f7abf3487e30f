"""Syntactic distances, computed from attention keys (Harada and Watanabe, 2021, equation 4)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import exact_type


class SyntacticDistance(nn.Module):
    """`d_i = tanh(W [k_{i−M}; …; k_i] + b)`, the height of the gap before position i.

    A convolution over a head's own keys that reads only earlier positions, so that a decoder can
    use it. Each head has its own weights. Before the start of the sentence the keys are zeros.

    Args:
        num_heads: H.
        head_dim: D.
        lookback: M of the equation; the convolution has lookback + 1 taps.
    """

    def __init__(self, num_heads: int, head_dim: int, lookback: int) -> None:
        super().__init__()
        self.lookback = lookback
        # The first tap is that of the key `lookback` positions back.
        self.weight = nn.Parameter(torch.empty(num_heads, head_dim, lookback + 1))
        self.bias = nn.Parameter(torch.empty(num_heads, 1))
        bound = 1 / math.sqrt(head_dim * (lookback + 1))
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        heads, head_dim, _ = self.weight.shape
        return f"num_heads={heads}, head_dim={head_dim}, lookback={self.lookback}"

    def forward(self, keys: Tensor, padding: Tensor | None) -> Tensor:
        """The distances of all positions.

        Args:
            keys: B×H×S×D.
            padding: B×S, True = pad, which no position reads; its own distance means nothing.

        Returns:
            B×H×S between −1 and 1, in float32 at least.
        """
        exact = exact_type(keys)
        with torch.autocast(keys.device.type, enabled=False):  # autocast would use 16 bits
            taps = torch.matmul(keys.to(exact), self.weight.to(exact))  # B×H×S×(lookback+1)
        if padding is not None:
            taps = taps.masked_fill(padding[:, None, :, None], 0.0)
        length = keys.size(2)
        taps = F.pad(taps, (0, 0, self.lookback, 0))
        summed = sum(
            (taps[:, :, tap : tap + length, tap] for tap in range(self.lookback + 1)),
            start=self.bias.to(taps),
        )
        return torch.tanh(summed)

    def of_last(self, keys: Tensor) -> Tensor:
        """The distance of only the last position, for a search step.

        Args:
            keys: B×H×S×D without pads, the last lookback + 1 at most.

        Returns:
            B×H×1, as :meth:`forward` gives it.
        """
        exact = exact_type(keys)
        taps = self.weight[..., -keys.size(2) :].transpose(1, 2).to(exact)
        summed = (keys.to(exact) * taps).sum(dim=(2, 3)).unsqueeze(2)
        return torch.tanh(summed + self.bias.to(exact))
