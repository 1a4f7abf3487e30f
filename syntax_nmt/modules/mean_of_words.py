"""The mean of a sentence's vectors over its real words."""

from __future__ import annotations

from torch import Tensor

from syntax_nmt.modules.precision import exact_type


def mean_of_words(states: Tensor, padding: Tensor) -> Tensor:
    """The mean over real positions, EOS included, whatever the batch is padded to.

    The sum is computed in float32 at least: that of a long sentence may be too large for float16.

    Args:
        states: B×S×C.
        padding: B×S, True = pad.

    Returns:
        B×C.
    """
    total = states.masked_fill(padding.unsqueeze(-1), 0).sum(dim=1, dtype=exact_type(states))
    return (total / (~padding).sum(dim=1, keepdim=True)).to(states.dtype)
