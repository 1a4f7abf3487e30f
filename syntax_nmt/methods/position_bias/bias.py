"""Biases of self-attention that depend only on positions: baselines for syntax."""

import math
from abc import ABC, abstractmethod
from bisect import bisect_right

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.alibi import alibi_slopes

DECAY, ALIBI, T5 = "decay", "alibi", "t5"


class PositionBias(nn.Module, ABC):
    """A number for each distance between query i and key j, added to the logits.

    Args:
        causal: the future, j > i, is masked.
    """

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal

    @abstractmethod
    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias at each j − i.

        Args:
            offsets: N integers.

        Returns:
            H×N, or 1×N if all heads have the same.
        """

    def forward(self, length: int, queries: int, like: Tensor) -> Tensor:
        """The bias of the last positions.

        Args:
            length: S, the number of keys.
            queries: T, the number of queries; they are the last T of the S positions.
            like: gives device and type.

        Returns:
            1×H×T×S, or 1×1×T×S if all heads have the same.
        """
        ahead = 0 if self.causal else queries - 1
        offsets = torch.arange(1 - length, 1 + ahead, device=like.device)
        values = self.of_offsets(offsets).to(like)
        if queries == 1:
            return values[None, :, None]
        values = F.pad(values, (0, queries - 1 - ahead), value=float("-inf"))
        # Row i of a distance bias is the previous row, shifted by one.
        rows = torch.arange(queries - 1, -1, -1, device=like.device)
        columns = rows.unsqueeze(1) + torch.arange(length, device=like.device)
        return values[:, columns].unsqueeze(0)


class Decay(PositionBias):
    """`−(|i − j| − 1) ln 2`, and 0 at a position itself: gates of equal distances.

    With equal distances in the gates of Harada and Watanabe (2021), equations 5 and 6, every
    position between query and key halves the gate, as α(0) = ½.
    """

    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias at each j − i, 1×N."""
        between = (offsets.abs() - 1).clamp(min=0)
        return between.double().unsqueeze(0) * -math.log(2)


class ALiBi(PositionBias):
    """`−m_h |i − j|` with a slope m_h for each head (Press, Smith and Lewis, 2022, section 3).

    The paper biases decoders; an encoder gets the same bias in both directions.
    """

    slopes: Tensor

    def __init__(self, num_heads: int, causal: bool) -> None:
        super().__init__(causal)
        slopes = torch.tensor(alibi_slopes(num_heads), dtype=torch.float64).unsqueeze(1)
        self.register_buffer("slopes", slopes, persistent=False)

    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias at each j − i, H×N."""
        return -self.slopes * offsets.abs()


class T5Bias(PositionBias):
    """A trained number for each head and bucket of j − i (Raffel et al., 2020, section 2.1).

    An encoder has the same number of buckets for keys before and after the query. The numbers start
    at zero; T5 draws them at random.
    """

    buckets, farthest = 32, 128

    def __init__(self, num_heads: int, causal: bool) -> None:
        super().__init__(causal)
        self.table = nn.Parameter(torch.zeros(num_heads, self.buckets))
        of_a_direction = self.buckets if causal else self.buckets // 2
        bucket = torch.tensor(t5_buckets(of_a_direction, self.farthest))
        self.register_buffer("bucket_of_distance", bucket, persistent=False)

    bucket_of_distance: Tensor

    def of_offsets(self, offsets: Tensor) -> Tensor:
        """The bias at each j − i, H×N."""
        bucket = self.bucket_of_distance[offsets.abs().clamp(max=self.farthest)]
        if not self.causal:
            bucket = bucket + (offsets > 0) * (self.buckets // 2)
        return self.table[:, bucket]


def build_position_bias(kind: str, num_heads: int, causal: bool) -> PositionBias:
    """The bias of that name: `decay`, `alibi` or `t5`."""
    if kind == DECAY:
        return Decay(causal)
    return {ALIBI: ALiBi, T5: T5Bias}[kind](num_heads, causal)


def t5_buckets(buckets: int, farthest: int) -> list[int]:
    """The bucket of each distance from 0 to `farthest`; all beyond share the last.

    The first half are single distances. The others grow by a constant factor up to `farthest`.
    Integer arithmetic avoids rounding errors of logarithms.
    """
    exact = buckets // 2
    grown = buckets - exact
    # Distance n is in the k-th growing bucket if (n / exact)^grown ≥ (farthest / exact)^k.
    bounds = [farthest**k * exact ** (grown - k) for k in range(1, grown)]
    return [n if n < exact else exact + bisect_right(bounds, n**grown) for n in range(farthest + 1)]
