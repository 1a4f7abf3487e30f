"""The factor that parent-scaled heads multiply their logits by (Bugliarello and Okazaki, 2020)."""

import math

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.backbone.word_spans import Spans


class ParentScaling(nn.Module):
    """`D[t, j] = (2πσ²)^−½ exp(−(j − p_t)² / 2σ²)`, p_t being :func:`parent_positions`.

    The row of a token without a parse, such as EOS, is 1, so that its logits do not change. In
    training, *parent ignoring* makes rows 1 at random.

    Args:
        num_heads: H.
        scaled_heads: h, number of scaled heads, the first ones; the factor of the others is 1.
        variance: σ².
        ignoring: q, the probability that a token's row is 1 in training.
        ignoring_per_head: draw separately for each head, as the authors' released code does.
    """

    def __init__(
        self,
        num_heads: int,
        scaled_heads: int,
        variance: float = 1.0,
        ignoring: float = 0.0,
        ignoring_per_head: bool = False,
    ) -> None:
        super().__init__()
        self.num_heads, self.scaled_heads = num_heads, scaled_heads
        self.variance = variance
        self.ignoring, self.ignoring_per_head = ignoring, ignoring_per_head

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return (
            f"{self.scaled_heads} of {self.num_heads} heads, variance={self.variance}, "
            f"ignoring={self.ignoring}"
        )

    def forward(self, heads: Tensor, spans: Spans, like: Tensor) -> Tensor:
        """The factor of the logits.

        Args:
            heads: B×S, the column of each token's head, a root's own; −1 = none.
            spans: of the words, B×S each.
            like: gives the type; it is float32 at least.

        Returns:
            B×H×S×S, or B×1×S×S if all heads have the same.
        """
        columns = torch.arange(heads.size(1), device=heads.device)
        from_parent = columns - parent_positions(heads, spans).to(exact_type(like)).unsqueeze(2)
        height = (2 * math.pi * self.variance) ** -0.5
        density = height * torch.exp(from_parent.square() / (-2 * self.variance))
        plain = heads.lt(0).unsqueeze(1)  # B×1×S
        if self.training and self.ignoring:
            rows = self.scaled_heads if self.ignoring_per_head else 1
            drawn = torch.rand(len(heads), rows, heads.size(1), device=heads.device)
            plain = plain | (drawn < self.ignoring)
        factor = density.unsqueeze(1).masked_fill(plain.unsqueeze(3), 1.0)
        if self.scaled_heads == self.num_heads:
            return factor
        factor = factor.expand(-1, self.scaled_heads, -1, -1)
        others = factor.new_ones(()).expand(
            len(heads), self.num_heads - self.scaled_heads, *factor.shape[2:]
        )
        return torch.cat([factor, others], dim=1)


def parent_positions(heads: Tensor, spans: Spans) -> Tensor:
    """p_t: the middle of the subwords of the head of t's word, which may end in ½.

    All subwords of a word have the same; a root's are around the middle of its own word.

    Args:
        heads: B×S, the column of each token's head, a root's own; −1 = none.
        spans: of the words, B×S each.

    Returns:
        B×S float; meaningless where there is no head.
    """
    parents = heads.long().gather(1, spans.first).clamp(min=0)
    return (spans.first.gather(1, parents) + spans.last.gather(1, parents)) / 2
