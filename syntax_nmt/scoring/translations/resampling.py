"""Paired tests by resampling: the bootstrap and approximate randomisation.

Random numbers and p-values are those of sacrebleu: with one run a system, the figures are the same,
with two exceptions. The bootstrap's p of two systems without any difference is 1. Randomisation
counts trials that equal the real difference, as its authors do; sacrebleu excludes them, so that a
difference in a single sentence has the smallest possible p.

There are three extensions. A system may have several runs (training seeds), whose scores are
averaged; a test set may be large, because resamples are drawn in blocks; and all metrics share the
draws.

The tests ask whether the systems differ on other sentences. `seed_tests` asks whether they differ
with other training runs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.reporting.result import Result

# The scores of corpora by all metrics (corpora × metrics), from sums of their statistics (corpora ×
# statistics).
ScoreRows = Callable[[np.ndarray], np.ndarray]

SEED = 12345  # sacrebleu's own
RESAMPLES = 1000
LEAST_RESAMPLES = 40
TRIALS = 10000
_BLOCK = 4_000_000  # draws held in memory at once
_PART = 250  # sentences whose statistics stay in the processor's cache
_ROUNDING = 1e-9  # smaller differences count as 0


def bootstrap_scores(
    statistics: Sequence[np.ndarray],
    score_rows: ScoreRows,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> np.ndarray:
    """The scores of each run on test sets drawn from the sentences with replacement.

    Equal seeds draw equal test sets, so that the scores of two systems can be compared.

    Args:
        statistics: of each run, one row a sentence (sentences × statistics).
        score_rows: from sums of statistics.
        resamples: how many test sets.

    Returns:
        resamples × runs × metrics.
    """
    sentences = len(statistics[0])
    rng = np.random.default_rng(seed)
    rows = []
    for size in _block_sizes(resamples, sentences):
        drawn = rng.choice(sentences, size=(size, sentences), replace=True)
        counts = np.stack([np.bincount(row, minlength=sentences) for row in drawn]).astype(float)
        rows.append(np.stack([score_rows(counts @ run) for run in statistics], axis=1))
    return np.concatenate(rows)


def refuse_few_resamples(resamples: int) -> None:
    """Refuses a number of resamples of which no 95 % interval can be read.

    Raises:
        UserError: there are fewer than :data:`LEAST_RESAMPLES`.
    """
    if resamples < LEAST_RESAMPLES:
        raise UserError(
            f"{resamples} resamples: give {LEAST_RESAMPLES} or more, as an interval leaves out the "
            f"outermost fortieth of both sides (default: {RESAMPLES})"
        )


@dataclass(frozen=True)
class Confidence:
    """How intervals are estimated.

    Attributes:
        resamples: number of resampled test sets.
        seed: of the draws.

    Raises:
        UserError: too few resamples.
    """

    resamples: int = RESAMPLES
    seed: int = SEED

    def __post_init__(self) -> None:
        refuse_few_resamples(self.resamples)

    def signature(self) -> dict[str, object]:
        """The parameters under sacrebleu's names."""
        return {"bs": self.resamples, "seed": self.seed}


@dataclass(frozen=True)
class Interval(Result):
    """The 95 % interval of a score over resampled test sets.

    Attributes:
        mean: of the scores on them.
        low: the lower end.
        high: the upper end.
        half_width: the figure behind ± in sacrebleu's output.
    """

    mean: float
    low: float
    high: float
    half_width: float


def interval(resampled: np.ndarray) -> Interval | None:
    """The interval of one metric, from percentiles, as sacrebleu takes them.

    Returns:
        None where no resample has anything to score; those that have not (NaN) are left out.
    """
    ordered = np.sort(resampled[~np.isnan(resampled)])
    if not len(ordered):
        return None
    cut = len(ordered) // LEAST_RESAMPLES
    low, high = float(ordered[cut]), float(ordered[-1 - cut])
    return Interval(float(ordered.mean()), low, high, (high - low) / 2)


def draws_of_scores(*sides: np.ndarray) -> list[np.ndarray]:
    """The draws in which all runs have something to score, and not NaN.

    Args:
        *sides: resamples × runs of each system, on the same test sets.
    """
    known = ~np.isnan(np.hstack(sides)).any(axis=1)
    return [side[known] for side in sides]


def bootstrap_p_value(baseline: np.ndarray, system: np.ndarray, difference: float) -> float:
    """The share of resampled differences that exceed their mean by more than the real difference.

    This is sacrebleu's method (after Koehn, 2004, and Moses' script). It takes absolute values
    before the mean, so the values are too small if the systems hardly differ, increasingly so as p
    approaches 1. Randomisation has no such bias.

    Args:
        baseline: resampled scores of one metric.
        system: on the same draws.
        difference: of the scores on the whole test set.
    """
    differences = np.abs(system - baseline)
    if abs(difference) <= _ROUNDING:  # chance does at least as much
        return 1.0
    return _p_value(differences - differences.mean() > abs(difference) + _ROUNDING)


def randomisation_p_values(
    baseline: Sequence[np.ndarray],
    system: Sequence[np.ndarray],
    score_rows: ScoreRows,
    trials: int = TRIALS,
    seed: int = SEED,
    enough: int | None = None,
) -> np.ndarray:
    """Two-sided approximate randomisation (Riezler and Maxwell, 2005), one p-value a metric.

    Each trial reassigns the translations of every sentence to the two sides. With
    several runs, all of a sentence's translations are pooled (Clark et al., 2011, with sides of any
    size). p is the share of trials whose difference is at least the real one; trials in which a
    side has nothing to score (NaN) do not count.

    Args:
        baseline: of each run, the statistics of each sentence (sentences × statistics).
        system: likewise; the number of runs may differ.
        score_rows: from sums of statistics.
        trials: how many, at most.
        enough: trials end when this number had, for each metric, at least the real difference
            (Besag and Clifford, 1991): a large p needs few trials. None = all trials are made.
    """
    first, second = (
        _mean_scores([run.sum(axis=0)[None] for run in side], score_rows)
        for side in (baseline, system)
    )
    real = np.abs(first - second)[0]
    rng = np.random.default_rng(seed)
    made, beyond = np.zeros((2, len(real)), dtype=int)
    for shuffled in _shuffled_sums([*baseline, *system], trials, rng):
        sides = shuffled[: len(baseline)], shuffled[len(baseline) :]
        dealt, others = (_mean_scores(side, score_rows) for side in sides)
        found = np.abs(dealt - others)
        made += (~np.isnan(found)).sum(axis=0)
        beyond += (found >= real - _ROUNDING).sum(axis=0)
        if enough is not None and (beyond >= enough).all():
            break
    return (beyond + 1) / (made + 1)


def _shuffled_sums(
    statistics: Sequence[np.ndarray], trials: int, rng: np.random.Generator
) -> Iterator[list[np.ndarray]]:
    """Sums over the sentences after their translations were exchanged between the runs.

    Yields a block of trials at a time: for each run, trials × statistics.
    """
    sentences, runs = len(statistics[0]), len(statistics)
    total = np.sum([run.sum(axis=0) for run in statistics], axis=0)
    if runs == 2:
        # Bits are drawn 32 at a time: with blocks of 32 rows they do not depend on the block.
        for size in _block_sizes(trials, sentences, multiple=32):
            stay = rng.integers(2, size=(size, sentences), dtype=bool).astype(float)
            sums = stay @ (statistics[0] - statistics[1]) + statistics[1].sum(axis=0)
            yield [sums, total - sums]
        return
    columns = total.size
    parts = range(0, sentences, _PART)
    stacked = [np.stack([run[first : first + _PART] for run in statistics], 1) for first in parts]
    for size in _block_sizes(trials, sentences * runs):
        keys = rng.random((size, sentences, runs))
        sums = np.zeros((size, runs * columns))
        for first, of_part in zip(parts, stacked):
            # The order of a sentence's keys says which translation each run gets.
            orders = keys[:, first : first + _PART].argsort(axis=2)
            orders += np.arange(0, len(of_part) * runs, runs)[:, None]
            rows = of_part.reshape(-1, columns)
            for trial, order in enumerate(orders):
                dealt = rows.take(order.ravel(), axis=0)
                sums[trial] += dealt.reshape(len(of_part), -1).sum(axis=0)
        yield list(np.moveaxis(sums.reshape(size, runs, columns), 1, 0))


def _block_sizes(rows: int, columns: int, multiple: int = 1) -> Iterator[int]:
    """Sizes of the blocks of the rows, each but the last a multiple."""
    block = max(1, _BLOCK // columns // multiple) * multiple
    while rows > 0:
        yield min(block, rows)
        rows -= block


def _mean_scores(sums: Sequence[np.ndarray], score_rows: ScoreRows) -> np.ndarray:
    """Rows of sums, of each run, to rows of scores, averaged over the runs."""
    return np.mean([score_rows(run) for run in sums], axis=0)


def _p_value(beyond: np.ndarray) -> float:
    """The share of samples beyond the real difference, which itself counts as one."""
    return (int(beyond.sum()) + 1) / (len(beyond) + 1)
