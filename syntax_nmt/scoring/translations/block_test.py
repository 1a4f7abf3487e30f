"""Tests of differences over training seeds, with seeds as blocks and moderated variances.

Runs with the same seed share initial weights and the order of batches, and their scores correlate:
a seed is a block, and two systems are compared by their differences d_s within seeds s. Three or
five differences say little of their own variance s². But all systems of a table are trained alike,
and the variances of all their pairs say what is usual. Each variance moves towards it as far as the
data do not tell them apart: the moderated variance and t of Smyth (2004), sections 3 to 6,

    s̃² = (d₀ s₀² + d s²) / (d₀ + d),    t = mean(d_s) / (s̃ / √n)  with  d₀ + d  degrees of freedom,

where d = n − 1, and d₀ and s₀² follow from the mean and the variance of log s² over pairs. With
d₀ = ∞ all pairs have one variance: the test of a contrast in the layout of systems and seeds.

A pair that varies more than that, s² > s₀², keeps its own variance, with its d degrees: the paired
t-test. Few systems do not tell whether one of them is noisy, and what is usual of the others would
make its differences certain. So no variance is smaller than the pair's own.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy import special

from syntax_nmt.scoring.translations.seed_tests import student_test
from syntax_nmt.scoring.translations.significance import FEWEST, SeedTest

_LEAST = 1e-8  # excess, to which the inverse of trigamma is sought


class SeedBlocks:
    """All systems and seeds of a table, within which differences are tested.

    Args:
        scores: of each system, by seed; a seed may be missing.
    """

    def __init__(self, scores: Sequence[Mapping[int, float]]) -> None:
        self._scores = scores
        # The same runs twice, of a system and of the choice of it, are no evidence of a variance.
        distinct: list[Mapping[int, float]] = []
        for of_system in sorted(scores, key=len, reverse=True):
            if not any(of_system.items() <= other.items() for other in distinct):
                distinct.append(of_system)
        pairs = [_differences(*pair) for pair in combinations(distinct, 2)]
        pairs = [pair for pair in pairs if len(pair) > 1]
        degrees = np.array([len(pair) - 1 for pair in pairs], dtype=float)
        variances = np.array([statistics.variance(pair) for pair in pairs])
        # Pairs share systems: together they tell no more than the two-way layout, whose means of
        # systems and of seeds are as many parameters, less one in each part without common seeds.
        parts = _parts(distinct)
        means = len(distinct) + sum(map(len, parts)) - len(parts)
        self._most = sum(map(len, distinct)) - means
        self._prior_degrees, self._prior = _prior(variances, degrees)

    def test(self, baseline: int, system: int) -> SeedTest:
        """Tests the difference of two systems, by their places; the interval is over seeds."""
        found = _differences(self._scores[baseline], self._scores[system])
        if len(found) < FEWEST:
            return SeedTest.without_p(len(found))
        own, variance = float(len(found) - 1), statistics.variance(found)
        degrees = own
        if variance <= self._prior and math.isinf(self._prior_degrees):
            variance, degrees = self._prior, float(self._most)
        elif variance <= self._prior:
            degrees = self._prior_degrees + own
            variance = (self._prior_degrees * self._prior + own * variance) / degrees
            degrees = min(degrees, self._most)
        if not variance > 0:
            return SeedTest.without_p(len(found))
        return student_test((len(found),), statistics.mean(found), variance / len(found), degrees)


def _differences(first: Mapping[int, float], second: Mapping[int, float]) -> list[float]:
    """Of the seeds that both have."""
    return [second[seed] - first[seed] for seed in first if seed in second]


def _parts(scores: Sequence[Mapping[int, float]]) -> list[set[int]]:
    """The seeds of each part of a layout: systems with a common seed are in one part."""
    parts: list[set[int]] = []
    for of_system in scores:
        met = [part for part in parts if part & of_system.keys()]
        parts = [part for part in parts if part not in met]
        parts.append(set(of_system).union(*met))
    return parts


def _prior(variances: np.ndarray, degrees: np.ndarray) -> tuple[float, float]:
    """d₀ and s₀², by Smyth's moments of log s².

    Args:
        variances: of the pairs of systems.
        degrees: of freedom of each.
    """
    if not len(variances):
        return math.inf, 0.0
    pooled = float(np.average(variances, weights=degrees))
    known, half = variances > 0, degrees / 2
    logs = np.log(variances[known]) - special.digamma(half[known]) + np.log(half[known])
    if len(logs) < 2:
        return math.inf, pooled
    excess = float(logs.var(ddof=1) - special.polygamma(1, half[known]).mean())
    if excess <= _LEAST:
        return math.inf, pooled
    from scipy import optimize  # loads for a quarter of a second, and few tables come here

    found = optimize.brentq(lambda x: special.polygamma(1, x) - excess, _LEAST, 1 / _LEAST)
    return 2 * found, math.exp(logs.mean() + special.digamma(found) - math.log(found))
