"""The mean gain of a method over corpora, with an interval: random effects.

Each corpus has a gain of its own, of which the table's is an estimate; the interval is about the
mean of such gains. Corpora are weighted by the inverse of their variance: that of the estimate over
training seeds, and the one between corpora (DerSimonian and Laird, 1986). The interval is that of
Hartung and Knapp (2001) and of Sidik and Jonkman (2002), whose Student's t has the right coverage
for few corpora, where that of DerSimonian and Laird is too narrow (IntHout et al., 2014).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

FEWEST = 3  # corpora; with two, Student's t of one degree of freedom decides nothing


@dataclass(frozen=True)
class Pooled:
    """The mean over corpora and its 95 % interval.

    Attributes:
        mean: of the corpora's gains.
        low: of the interval.
        high: of the interval.
    """

    mean: float
    low: float
    high: float


def pooled_mean(differences: Sequence[float], variances: Sequence[float]) -> Pooled:
    """The mean of differences over corpora.

    Args:
        differences: one a corpus, :data:`FEWEST` or more.
        variances: of these, over training seeds.
    """
    gains, errors = np.array(differences), np.array(variances)
    weights = 1 / (errors + _between(gains, errors))
    mean = float(np.average(gains, weights=weights))
    freedom = len(gains) - 1
    error = np.sqrt(np.average((gains - mean) ** 2, weights=weights) / freedom)
    half = float(stats.t.ppf(0.975, freedom) * error)
    return Pooled(mean, mean - half, mean + half)


def _between(gains: np.ndarray, variances: np.ndarray) -> float:
    """The variance between corpora, by the moments of DerSimonian and Laird."""
    weights = 1 / variances
    excess = np.sum(weights * (gains - np.average(gains, weights=weights)) ** 2) - len(gains) + 1
    return max(0.0, float(excess / (weights.sum() - np.sum(weights**2) / weights.sum())))
