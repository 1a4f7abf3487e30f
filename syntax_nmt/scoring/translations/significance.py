"""What a test says of a difference, and how tables say it; the adjustment for several tests."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import p_value_text
from syntax_nmt.reporting.result import Result

SIGNIFICANT = 0.05
NO_SPREAD = "no spread"
"""In place of p where scores do not differ."""
FEWEST = 3  # seeds of a system; with two, Student's t of one degree of freedom decides nothing


class DifferenceTest(Result):
    """The result of a test of a difference.

    Attributes:
        p_value: two-sided; None where the test says nothing.
        p_holm: after Holm's adjustment, if the test is one of several; None otherwise.
        floor: the least p that the test can give; 0 of tests without draws.
    """

    p_value: float | None
    p_holm: float | None
    floor: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the test finds a difference: by `p_holm` where there is one."""
        decides = self.p_value if self.p_holm is None else self.p_holm
        return decides is not None and decides < SIGNIFICANT

    def p_text(self) -> str:
        """p, and in brackets `p_holm`; or why there is none."""
        if self.p_value is None:
            return self._why_none()
        text = p_value_text(self.p_value, self.floor)
        return text if self.p_holm is None else f"{text} ({self.adjusted_text(self.p_holm)})"

    def marked_p(self, unmarked: str = " ") -> str:
        """:meth:`p_text`, with an asterisk if the test finds a difference.

        Args:
            unmarked: stands in place of the asterisk, as wide as it.
        """
        return self.p_text() + self._mark(unmarked)

    def marked_p_holm(self) -> str:
        """`p_holm` alone, with the asterisk."""
        if self.p_holm is None:
            return self.p_text()
        return self.adjusted_text(self.p_holm) + self._mark(" ")

    def adjusted_text(self, p_value: float) -> str:
        """An adjusted p of this test; a bound where the test could give no smaller one."""
        at_floor = self.p_value is not None and self.p_value <= self.floor
        return p_value_text(p_value, p_value if at_floor else 0.0)

    def _mark(self, unmarked: str) -> str:
        return "*" if self.is_significant else unmarked

    def _why_none(self) -> str:
        return NO_FIGURE


@dataclass
class ResampledTest(DifferenceTest):
    """A test by draws: the paired bootstrap, or approximate randomisation.

    Attributes:
        floor: the least p that it can give: 1 of the draws and the difference itself.
    """

    p_value: float
    floor: float
    p_holm: float | None = None


@dataclass
class SeedTest(DifferenceTest):
    """A t-test of a difference over training seeds.

    Attributes:
        seeds: numbers of the baseline's runs and of the system's; where seeds are blocks, the
            number of those that both have.
        p_value: of Student's t, two-sided, on these sentences; None = fewer than :data:`FEWEST`
            seeds, or scores that do not differ.
        degrees: of freedom; None where the variance counts as known, and where `p_value` is None.
        low: lower end of the 95 % interval of the difference; None where `p_value` is.
        high: the upper end.
    """

    seeds: tuple[int, ...]
    p_value: float | None
    degrees: float | None
    low: float | None
    high: float | None
    p_holm: float | None = None

    @classmethod
    def without_p(cls, *seeds: int) -> "SeedTest":
        """A test that says nothing.

        Args:
            *seeds: the numbers of runs.
        """
        return cls(seeds, None, None, None, None)

    def _why_none(self) -> str:
        return NO_SPREAD if min(self.seeds) >= FEWEST else f"needs {FEWEST} seeds"


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (1979): the k-th smallest of m is multiplied by m − k + 1.

    An adjusted value is never below that of a smaller p-value, nor above 1.

    Args:
        p_values: of all comparisons.

    Raises:
        ValueError: one is NaN; a test that says nothing is to be left out.
    """
    if any(map(math.isnan, p_values)):
        raise ValueError("Holm's adjustment: a p-value is NaN: leave out tests that say nothing")
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = least
    return adjusted


def adjust_tests(tests: Iterable[DifferenceTest]) -> None:
    """Adds Holm's p to each of several tests; those that say nothing do not count."""
    known = [(test, test.p_value) for test in tests if test.p_value is not None]
    for (test, _), p_value in zip(known, holm([p_value for _, p_value in known])):
        test.p_holm = p_value
