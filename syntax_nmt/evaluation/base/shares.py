"""Shares in percent: precision, recall and F1."""

from __future__ import annotations

import math
from typing import ClassVar


def percent(part: float, whole: float, of_nothing: float = math.nan) -> float:
    """A share; `of_nothing` where there is nothing to have a share of."""
    return 100 * part / whole if whole else of_nothing


class PrecisionRecall:
    """The shares of what a dataclass has counted.

    Attributes:
        gold: what is in the reference.
        predicted: what is in the hypothesis.
        correct: what is in both.
        of_nothing: shares of what is empty.
    """

    gold: int
    predicted: int
    correct: int
    of_nothing: ClassVar[float] = math.nan

    @property
    def precision(self) -> float:
        """Share of the predicted that is correct."""
        return percent(self.correct, self.predicted, self.of_nothing)

    @property
    def recall(self) -> float:
        """Share of the gold that is found."""
        return percent(self.correct, self.gold, self.of_nothing)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return percent(2 * self.correct, self.predicted + self.gold, self.of_nothing)
