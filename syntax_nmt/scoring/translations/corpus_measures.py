"""What tests need of a measure: functions of sums over sentences."""

from collections.abc import Sequence
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
