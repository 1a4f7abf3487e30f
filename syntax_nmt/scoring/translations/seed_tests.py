"""Tests of differences over training seeds: Welch's t-test, and an interval.

Tests over sentences ask whether these trained models differ on other sentences. Here seeds are the
sample: is the method better when it is trained again (Reimers and Gurevych, 2017)?

The interval is that of a bootstrap that draws seeds of each system, and sentences that all runs
share. Seeds need not be drawn: with n of them the bootstrap's variance of their mean is (n − 1)/n
times s²/n, s² the sample variance. That is too small, with three seeds by a third, so s²/n is used
in its place. Sentences are drawn. The interaction of seeds and test sentences is part of both the
variance over seeds and that over sentences, and must count once. It counts in the variance over
seeds; the variance over sentences includes only what all seeds of a system share, the covariances
of runs on resampled test sets. The quantile is Student's, with Satterthwaite's degrees of freedom.
"""

import math
import statistics
from collections.abc import Sequence

import numpy as np
from scipy import special

from syntax_nmt.scoring.translations.significance import FEWEST, SeedTest


def spread(scores: Sequence[float]) -> float | None:
    """The sample standard deviation over runs; None of a single one.

    Args:
        scores: of each run.
    """
    return statistics.stdev(scores) if len(scores) > 1 else None


def seed_test(
    baseline: Sequence[float],
    system: Sequence[float],
    drawn_baseline: np.ndarray,
    drawn_system: np.ndarray,
) -> SeedTest:
    """Tests the difference of the means of one metric by Welch's t-test (1947).

    With three seeds p is conservative. The interval is over seeds and sentences.

    Args:
        baseline: score of each run.
        system: likewise; the number of runs may differ.
        drawn_baseline: scores of the same runs on resampled test sets (resamples × runs).
        drawn_system: on the same test sets.
    """
    seeds = len(baseline), len(system)
    if min(seeds) < FEWEST:
        return SeedTest.without_p(*seeds)
    parts = [float(np.var(scores, ddof=1)) / len(scores) for scores in (baseline, system)]
    if not sum(parts):
        return SeedTest.without_p(*seeds)
    difference = float(np.mean(system) - np.mean(baseline))
    degrees = _degrees(sum(parts), parts, seeds)
    variance = sum(parts) + max(0.0, _shared_variance(drawn_baseline, drawn_system))
    # Student's t: `stdtr` is its distribution function, `stdtrit` the inverse.
    p_value = 2 * float(special.stdtr(degrees, -abs(difference) / math.sqrt(sum(parts))))
    quantile = float(special.stdtrit(_degrees(variance, parts, seeds), 0.975))
    half = quantile * math.sqrt(variance)
    return SeedTest(seeds, p_value, degrees, difference - half, difference + half)


def _degrees(variance: float, parts: Sequence[float], seeds: Sequence[int]) -> float:
    """Satterthwaite's degrees of freedom of a variance, of which `parts` are estimated by seeds."""
    return variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, seeds))


def _shared_variance(baseline: np.ndarray, system: np.ndarray) -> float:
    """The variance of the difference over sentences that is not of single runs.

    Args:
        baseline: resamples × runs.
        system: likewise, on the same test sets.
    """
    first, covariances = baseline.shape[1], np.cov(np.hstack([baseline, system]), rowvar=False)
    within = [covariances[:first, :first], covariances[first:, first:]]
    alike = [block[~np.eye(len(block), dtype=bool)].mean() for block in within]
    return float(sum(alike) - 2 * covariances[:first, first:].mean())
