"""The mean gain over corpora: its interval covers the truth as often as it says."""

import numpy as np
import pytest

from experiments.gains_picture import Gain, with_means
from experiments.pooled import pooled_mean


@pytest.mark.parametrize("corpora", [3, 4, 6])
@pytest.mark.parametrize("between", [0.0, 0.3, 1.0])
def test_coverage(corpora, between):
    """500 simulated collections; estimates of unequal precision, the truth differs by corpus."""
    random, covered, draws = np.random.default_rng(7), 0, 500
    for _ in range(draws):
        errors = random.uniform(0.2, 0.8, corpora)
        gains = 1 + between * random.standard_normal(corpora)
        seen = gains + errors * random.standard_normal(corpora)
        found = pooled_mean(seen.tolist(), (errors**2).tolist())
        covered += found.low <= 1 <= found.high
    assert 0.93 <= covered / draws <= 0.97


def test_by_hand():
    """Equal variances: the plain mean, and Student's interval of the mean."""
    found = pooled_mean([0.0, 1.0, 2.0], [0.25, 0.25, 0.25])
    assert found.mean == pytest.approx(1)
    assert found.high - found.mean == pytest.approx(4.302653 / 3**0.5, rel=1e-6)


def test_rows():
    """Only methods with enough corpora have a mean; controls are left out of it, and two tables of
    one corpus count once."""

    def row(method, corpus, difference, is_control=False):
        ends = difference - 1.0, difference + 1.0
        return Gain(method, "", is_control, difference, *ends, corpus=corpus, variance=0.25)

    rows = [row("a", f"corpus {i}", float(i)) for i in range(2)]
    rows += [row("a", "corpus 2", 1.0), row("a", "corpus 2", 3.0), row("a", "corpus 3", 9.0, True)]
    rows += [row("b", f"corpus {i % 2}", 1.0) for i in range(4)]
    found = with_means(rows)
    assert [gain.label for gain in found if gain.is_mean] == ["mean over 3 corpora"]
    assert [gain.method for gain in found] == [*["a"] * 6, *["b"] * 4]
    assert found[5].difference == pytest.approx(1)
