"""Shares in percent: precision, recall and F1, and confidence intervals of accuracies."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import number
from syntax_nmt.reporting.result import Result

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Accuracy:
    """Decisions that were counted.

    Attributes:
        correct: right ones.
        total: all.
    """

    correct: int
    total: int

    @property
    def percent(self) -> float:
        """The share of right ones, in percent; NaN without decisions."""
        return percent(self.correct, self.total)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of :attr:`percent`: Wilson's, without continuity correction (1927).

        Unlike the normal approximation it is within 0 and 100, and has a width even if all
        decisions are right. Without decisions it is 0 to 100.
        """
        n = self.total
        if not n:
            return 0.0, 100.0
        z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        share = self.correct / n
        centre = share + z * z / (2 * n)
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        scale = 100 / (1 + z * z / n)
        # Where all or none are right, one end is exactly 100 or 0, which rounding must not move.
        low = scale * (centre - half) if self.correct else 0.0
        high = scale * (centre + half) if self.correct < n else 100.0
        return low, high


@dataclass
class Bounds(Result):
    """An interval, in percent."""

    low: float
    high: float


@dataclass
class AccuracyFigures(Result):
    """An accuracy as results have it.

    Attributes:
        accuracy: in percent; None without decisions.
        interval: of 95 %, Wilson's.
        correct: right decisions.
        total: all.
    """

    accuracy: float | None
    interval: Bounds
    correct: int
    total: int

    @classmethod
    def of(cls, counted: Accuracy) -> "AccuracyFigures":
        """The figures of decisions that were counted."""
        bounds = Bounds(*counted.interval)
        return cls(number(counted.percent), bounds, counted.correct, counted.total)

    @property
    def cell(self) -> str:
        """The accuracy in a table: `75.0 [41.0, 93.0] 6/8`."""
        if self.accuracy is None:
            return NO_FIGURE
        bounds = f"[{self.interval.low:.1f}, {self.interval.high:.1f}]"
        return f"{self.accuracy:.1f} {bounds} {self.correct}/{self.total}"


def percent(part: float, whole: float, of_nothing: float = math.nan) -> float:
    """A share; `of_nothing` if the whole is 0."""
    return 100 * part / whole if whole else of_nothing


class PrecisionRecall:
    """Shares from the counts of a dataclass.

    Attributes:
        gold: number in the reference.
        predicted: number in the hypothesis.
        correct: number in both.
        of_nothing: the value of shares of 0.
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
