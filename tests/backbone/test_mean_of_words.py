"""The mean over the real words of a sentence, in any type."""

import pytest
import torch

from syntax_nmt.backbone.numerics import mean_of_words


def test_mean_of_real_words():
    states = torch.randn(2, 5, 3, dtype=torch.float64)
    padding = torch.tensor([[True, True, False, False, False], [False, True, True, True, True]])
    states[padding] = float("nan")
    expected = torch.stack([states[0, 2:].mean(dim=0), states[1, 0]])
    torch.testing.assert_close(mean_of_words(states, padding), expected)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_long_sentences_in_half_precision(kind):
    """The sum of 1,000 words of 100 is beyond float16."""
    states = torch.full((1, 1000, 2), 100.0, dtype=kind)
    mean = mean_of_words(states, torch.zeros(1, 1000, dtype=torch.bool))
    assert mean.dtype == kind
    assert (mean == 100).all()
