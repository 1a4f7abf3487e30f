"""The number of arcs between the words of a dependency tree, and what they do to logits."""

import math

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.alibi import alibi_slopes
from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.backbone.tree_pointers import ancestors, arcs_between
from syntax_nmt.methods.tree_distance.options import ALIBI, EXP, LINEAR, NORMAL


def tree_distances(heads: Tensor, first: Tensor) -> Tensor:
    """D: the number of arcs on the way from each token's word to every other's.

    Args:
        heads: B×S, the column of each token's head, a root's own; −1 = none.
        first: B×S, the column of the first subword of each token's word.

    Returns:
        B×S×S in float32; meaningless in rows and columns of tokens without a head.
    """
    return arcs_between(ancestors(heads, first))


class DistanceChange(nn.Module):
    """What distances in the tree do to the logits of a self-attention.

    | form | change |
    |---|---|
    | normal | factor `1 + λ (N(D; 0, σ²) − 1)` |
    | linear | bias `−λ D / max_j D` |
    | exp | bias `λ e^−D` |
    | alibi | bias `−λ m_h D` |

    A pair of tokens one of which has no head, such as EOS, is neutral: its logit does not change.
    In training, other pairs become neutral at random.

    Args:
        form: one of :data:`~syntax_nmt.methods.tree_distance.options.FORMS`.
        num_heads: H, for slopes.
        strength: λ.
        variance: σ².
        ignoring: the probability that a pair is neutral in training.
    """

    slopes: Tensor

    def __init__(
        self,
        form: str,
        num_heads: int,
        strength: float = 1.0,
        variance: float = 1.0,
        ignoring: float = 0.0,
    ) -> None:
        super().__init__()
        self.form, self.strength, self.variance = form, strength, variance
        self.ignoring = ignoring
        slopes = torch.tensor(alibi_slopes(num_heads), dtype=torch.float64)
        self.register_buffer("slopes", slopes, persistent=False)

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        variance = f", variance={self.variance}" if self.form == NORMAL else ""
        return f"{self.form}, strength={self.strength}{variance}, ignoring={self.ignoring}"

    def forward(self, heads: Tensor, first: Tensor, like: Tensor) -> AttentionModifier:
        """The change, B×1×S×S, or B×H×S×S for alibi.

        Args:
            heads: as of :func:`tree_distances`.
            first: as of :func:`tree_distances`.
            like: gives the type; it is float32 at least.
        """
        distances = tree_distances(heads, first).to(exact_type(like))
        there = heads.ge(0)
        neutral = ~(there.unsqueeze(2) & there.unsqueeze(1))
        distances = distances.masked_fill(neutral, 0.0)
        of_form = {NORMAL: self._normal, LINEAR: self._linear, EXP: self._exp, ALIBI: self._alibi}
        value = self.strength * of_form[self.form](distances)
        if self.training and self.ignoring:
            drawn = torch.rand(distances.shape, device=distances.device)
            neutral = neutral | (drawn < self.ignoring)
        value = value.masked_fill(neutral.unsqueeze(1), 0.0)
        if self.form == NORMAL:
            return AttentionModifier(factor=1 + value)
        return AttentionModifier(bias=value)

    def _normal(self, distances: Tensor) -> Tensor:
        height = (2 * math.pi * self.variance) ** -0.5
        return (height * torch.exp(distances.square() / (-2 * self.variance)) - 1).unsqueeze(1)

    def _linear(self, distances: Tensor) -> Tensor:
        farthest = distances.amax(dim=2, keepdim=True).clamp(min=1)
        return -(distances / farthest).unsqueeze(1)

    def _exp(self, distances: Tensor) -> Tensor:
        return torch.exp(-distances).unsqueeze(1)

    def _alibi(self, distances: Tensor) -> Tensor:
        return -self.slopes.to(distances)[:, None, None] * distances.unsqueeze(1)
