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
from dataclasses import dataclass

import numpy as np

FEWEST = 3  # seeds of a system; with two, Student's t of one degree of freedom decides nothing


def spread(scores: Sequence[float]) -> float | None:
    """The sample standard deviation over runs; None of a single one.

    Args:
        scores: of each run.
    """
    return statistics.stdev(scores) if len(scores) > 1 else None


@dataclass(frozen=True)
class SeedTest:
    """A difference over several seeds.

    Attributes:
        seeds: number of the baseline's runs, and of the system's.
        p_value: of Welch's t-test (1947), two-sided, on these sentences; conservative at three
            seeds. None = fewer than three seeds of one of them, or scores that do not differ
            between the seeds of either.
        degrees: of freedom, of Welch and Satterthwaite; None as before.
        low: lower end of the 95 % interval of the difference, over seeds and sentences; None as
            before.
        high: the upper end.
    """

    seeds: tuple[int, int]
    p_value: float | None = None
    degrees: float | None = None
    low: float | None = None
    high: float | None = None


def seed_test(
    baseline: Sequence[float],
    system: Sequence[float],
    drawn_baseline: np.ndarray,
    drawn_system: np.ndarray,
) -> SeedTest:
    """Tests the difference of the means of one metric.

    Args:
        baseline: score of each run.
        system: likewise; the number of runs may differ.
        drawn_baseline: scores of the same runs on resampled test sets (resamples × runs).
        drawn_system: on the same test sets.
    """
    seeds = len(baseline), len(system)
    if min(seeds) < FEWEST:
        return SeedTest(seeds)
    parts = [float(np.var(scores, ddof=1)) / len(scores) for scores in (baseline, system)]
    if not sum(parts):
        return SeedTest(seeds)
    difference = float(np.mean(system) - np.mean(baseline))
    degrees = _degrees(sum(parts), parts, seeds)
    variance = sum(parts) + max(0.0, _shared_variance(drawn_baseline, drawn_system))
    half = quantile_95(_degrees(variance, parts, seeds)) * math.sqrt(variance)
    p_value = two_sided_p_value(difference / math.sqrt(sum(parts)), degrees)
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


_LARGEST = 1e6  # degrees of freedom; with more it is the normal distribution within 1e-6
_TINY = 1e-300


def two_sided_p_value(t: float, degrees: float) -> float:
    """How probable |T| ≥ |t| is (Abramowitz and Stegun, 1964, equation 26.7.1).

    Args:
        degrees: of freedom, above 0; need not be whole, may be infinite.
    """
    degrees = min(degrees, _LARGEST)
    square = t * t
    return _incomplete_beta(
        degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5
    )


def quantile_95(degrees: float) -> float:
    """The t that |T| exceeds with a probability of 5 %: half of the 95 % interval.

    Args:
        degrees: of freedom, at least 1; need not be whole, may be infinite.
    """
    low, high = 0.0, 16.0  # 12.7 with one degree
    while high - low > 1e-12:
        middle = (low + high) / 2
        if two_sided_p_value(middle, degrees) > 0.05:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, with rest = 1 − x.

    By its continued fraction (NIST Handbook of Mathematical Functions, 8.17.22), which converges
    fast where x is below the mean of the distribution; elsewhere I_x(a, b) = 1 − I_rest(b, a).
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, b, a)
    if x == 0:
        return 0.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_factor += a * math.log(x) + b * math.log(rest)
    # Lentz's algorithm: the fraction is the product of c·d over its terms.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction, m, factor = d, 0, 0.0
    while abs(factor - 1) > 1e-15 and m < 10_000:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c = 1 + term / c or _TINY
            d = 1 / (1 + term * d or _TINY)
            factor = c * d
            fraction *= factor
    return math.exp(log_factor) * fraction / a
