"""What tests need of a measure: functions of sums over sentences."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class CorpusMeasures(Protocol):
    """Several measures of a corpus at once: metrics, or a figure for each bucket of words."""

    @property
    def names(self) -> tuple[str, ...]:
        """One for each measure, in the order of `score_rows`."""

    def columns(self, name: str) -> slice:
        """The columns of a measure's statistics."""

    def score(self, name: str, sums: Sequence[float]) -> float:
        """The figure of a corpus by one measure, in percent.

        Args:
            sums: of that measure's statistics over the sentences.
        """

    def run_scores(self, statistics: Sequence[np.ndarray]) -> dict[str, list[float]]:
        """The figures of each run of a system, by measure.

        Args:
            statistics: of each run (sentences × statistics).
        """

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The figures of many corpora: corpora × measures.

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """

    def higher_is_better(self, name: str) -> bool:
        """Whether a rise is good."""
