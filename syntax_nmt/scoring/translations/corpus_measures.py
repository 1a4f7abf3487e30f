"""What tests need of a measure: functions of sums over sentences."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np


class CorpusMeasures(Protocol):
    """Several measures of a corpus at once: metrics, or a figure for each bucket of words."""

    def run_scores(self, statistics: Sequence[np.ndarray]) -> dict[str, list[float]]:
        """The figures of each run of a system, by measure.

        Args:
            statistics: of each run (sentences × statistics).
        """

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The figures of many corpora: corpora × measures, in the order of `run_scores`.

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """


def figures_of_runs(
    names: Sequence[str],
    score_rows: Callable[[np.ndarray], np.ndarray],
    statistics: Sequence[np.ndarray],
) -> dict[str, list[float]]:
    """The figures of each run, by measure, of measures that score many corpora at once.

    Args:
        score_rows: as of :class:`CorpusMeasures`, and so are the statistics.
    """
    rows = score_rows(np.stack([run.sum(axis=0) for run in statistics]))
    return dict(zip(names, rows.T.tolist()))
