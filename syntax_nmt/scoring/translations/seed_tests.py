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

from syntax_nmt.scoring.translations.resampling import draws_of_scores
from syntax_nmt.scoring.translations.significance import FEWEST, SeedTest


def spread(scores: Sequence[float]) -> float | None:
    """The sample standard deviation over runs; None of a single one.

    Args:
        scores: of each run.
    """
    return statistics.stdev(scores) if len(scores) > 1 else None


def mean_and_spread(scores: Sequence[float]) -> tuple[float | None, float | None]:
    """The mean over runs, and their spread; None of both where a run has nothing to score (NaN).

    Args:
        scores: of each run.
    """
    if any(map(math.isnan, scores)):
        return None, None
    return statistics.mean(scores), spread(scores)


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
        drawn_baseline: scores of the same runs on resampled test sets (resamples × runs); NaN =
            there is nothing to score.
        drawn_system: on the same test sets.
    """
    seeds, parts = _parts(baseline, system)
    if min(seeds) < FEWEST or not sum(parts):
        return SeedTest.without_p(*seeds)
    difference = float(np.mean(system) - np.mean(baseline))
    degrees = _degrees(sum(parts), parts, seeds)
    variance = sum(parts) + max(0.0, _shared_variance(drawn_baseline, drawn_system))
    of_interval = variance, _degrees(variance, parts, seeds)
    return student_test(seeds, difference, sum(parts), degrees, of_interval)


def population_test(
    baseline: Sequence[float],
    system: Sequence[float],
    drawn_baseline: np.ndarray,
    drawn_system: np.ndarray,
) -> SeedTest:
    """Tests the difference over seeds and sentences: p goes with the interval of :func:`seed_test`.

    With fewer than :data:`FEWEST` runs of a system the test is over sentences alone, of the means
    over runs, and has no degrees of freedom.

    Args:
        baseline: as of :func:`seed_test`, as all others.
    """
    seeds, parts = _parts(baseline, system)
    difference = float(np.mean(system) - np.mean(baseline))
    degrees: float | None = None
    if min(seeds) < FEWEST:
        sides = draws_of_scores(drawn_baseline, drawn_system)
        first, second = (side.mean(axis=1) for side in sides)
        variance = float(np.var(second - first, ddof=1)) if len(first) > 1 else 0.0
    else:
        variance = sum(parts) + max(0.0, _shared_variance(drawn_baseline, drawn_system))
    if not variance:
        return SeedTest.without_p(*seeds)
    if min(seeds) >= FEWEST and any(parts):
        degrees = _degrees(variance, parts, seeds)
    return student_test(seeds, difference, variance, degrees)


def student_test(
    seeds: tuple[int, ...],
    difference: float,
    variance: float,
    degrees: float | None,
    of_interval: tuple[float, float] | None = None,
) -> SeedTest:
    """Student's t of a difference and its 95 % interval; normal without degrees of freedom.

    Args:
        seeds: as of :class:`SeedTest`.
        variance: of the difference, over seeds and sentences or over seeds alone.
        degrees: of freedom of the variance; None = it is known.
        of_interval: a variance and its degrees of freedom; None = the same.
    """
    wider, its_degrees = of_interval or (variance, degrees)
    p_value = _student(difference, variance, degrees)
    half = _half_width(wider, its_degrees)
    return SeedTest(seeds, p_value, degrees, difference - half, difference + half)


def variance_of_mean(scores: Sequence[float]) -> float:
    """The variance of the mean of runs over seeds, s²/n; 0 of a single run.

    Exact: that of equal scores is 0, without a rest of rounding that would make them certain.
    """
    return statistics.variance(scores) / len(scores) if len(scores) > 1 else 0.0


def _parts(
    baseline: Sequence[float], system: Sequence[float]
) -> tuple[tuple[int, int], list[float]]:
    """The numbers of runs, and the variances of both means over seeds."""
    return (len(baseline), len(system)), [variance_of_mean(runs) for runs in (baseline, system)]


def _student(difference: float, variance: float, degrees: float | None) -> float:
    """The two-sided p of Student's t; of the normal distribution without degrees of freedom."""
    t = -abs(difference) / math.sqrt(variance)
    below = special.ndtr(t) if degrees is None else special.stdtr(degrees, t)
    return 2 * float(below)


def _half_width(variance: float, degrees: float | None) -> float:
    """Half of the 95 % interval, likewise."""
    quantile = special.ndtri(0.975) if degrees is None else special.stdtrit(degrees, 0.975)
    return float(quantile) * math.sqrt(variance)


def _degrees(variance: float, parts: Sequence[float], seeds: Sequence[int]) -> float:
    """Satterthwaite's degrees of freedom of a variance, of which `parts` are estimated by seeds."""
    return variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, seeds))


def _shared_variance(baseline: np.ndarray, system: np.ndarray) -> float:
    """The variance of the difference over sentences that is not of single runs.

    Args:
        baseline: resamples × runs.
        system: likewise, on the same test sets.
    """
    sides = np.hstack(draws_of_scores(baseline, system))
    if len(sides) < 2:
        return 0.0
    first, covariances = baseline.shape[1], np.cov(sides, rowvar=False)
    within = [covariances[:first, :first], covariances[first:, first:]]
    alike = [block[~np.eye(len(block), dtype=bool)].mean() for block in within]
    return float(sum(alike) - 2 * covariances[:first, first:].mean())
