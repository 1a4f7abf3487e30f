"""Collins' sign test: how many sentences of a system make the baseline's corpus score better.

Collins, Koehn and Kučerová (2005), "Clause Restructuring for Statistical Machine Translation",
section 3.2: each sentence of the baseline's output in turn is replaced by the system's, and it
counts as better or worse as the score of the whole corpus rises or falls. The sign test then asks
how probable so uneven a count is if better and worse are equally likely.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from syntax_nmt.scoring.translations.significance import DifferenceTest

# Differences below are rounding. A replaced sentence of 100 thousand moves a score by 1e-5 or so.
_ROUNDING = 1e-10


@dataclass
class SignTest(DifferenceTest):
    """The counts of a comparison.

    Attributes:
        better: sentences with which the baseline's score is better.
        worse: sentences with which it is worse.
        equal: all others of the corpus; they do not enter the test.
        p_value: two-sided: of a count as uneven as this, or more so, if both are equally likely.
    """

    better: int
    worse: int
    equal: int
    p_value: float
    p_holm: float | None = None

    @classmethod
    def of(cls, better: int, worse: int, equal: int) -> "SignTest":
        """The test of these counts."""
        trials, smaller = better + worse, min(better, worse)
        return cls(better, worse, equal, min(1.0, 2 * float(special.bdtr(smaller, trials, 0.5))))


def collins_sign_test(
    baseline: Sequence[np.ndarray],
    system: Sequence[np.ndarray],
    score: Callable[[Sequence[float]], float],
    higher_is_better: bool = True,
) -> SignTest:
    """Replaces each sentence of the baseline by the system's, one at a time.

    With several runs of a system, the corpus has each sentence as often as there are runs, and all
    translations of a sentence are replaced together: so a difference between runs of one system is
    not taken for one between systems. Runs of the side that has fewer count more often.

    Args:
        baseline: of each run, the statistics of each sentence (sentences × statistics).
        system: likewise.
        score: the score of a corpus, from the sums of its statistics.
        higher_is_better: whether a rising score is better.
    """
    # Sums and not means: metrics take whole numbers of words.
    copies = math.lcm(len(baseline), len(system))
    ours = np.sum(baseline, axis=0) * (copies // len(baseline))
    difference = np.sum(system, axis=0) * (copies // len(system)) - ours
    total = ours.sum(axis=0)
    before = score(total.tolist())
    change = np.zeros(len(ours))
    for sentence in np.flatnonzero(difference.any(axis=1)):
        change[sentence] = score((total + difference[sentence]).tolist()) - before
    if not higher_is_better:
        change = -change
    better = int((change > _ROUNDING).sum())
    worse = int((change < -_ROUNDING).sum())
    return SignTest.of(better, worse, len(ours) - better - worse)
