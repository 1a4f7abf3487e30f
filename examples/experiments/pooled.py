"""The mean gain of a method over corpora, with an interval: random effects.

Each corpus has a gain of its own, of which the table's is an estimate; the interval is about the
mean of such gains. Corpora are weighted by the inverse of their variance: that of the estimate, and
the one between corpora (DerSimonian and Laird, 1986). The interval is that of Hartung and Knapp
(2001) and of Sidik and Jonkman (2002), whose Student's t has the right coverage for few corpora,
where that of DerSimonian and Laird is too narrow (IntHout et al., 2014).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

FEWEST = 3  # corpora; with two, Student's t of one degree of freedom decides nothing
_NORMAL = float(stats.norm.ppf(0.975))


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


def pooled_mean(differences: Sequence[float], intervals: Sequence[tuple[float, float]]) -> Pooled:
    """The mean of differences over corpora.

    Args:
        differences: one a corpus, :data:`FEWEST` or more.
        intervals: their 95 % intervals.
    """
    gains = np.array(differences)
    variances = (np.diff(np.array(intervals), axis=1)[:, 0] / 2 / _NORMAL) ** 2
    weights = 1 / (variances + _between(gains, variances))
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
