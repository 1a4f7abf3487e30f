"""Sentences grouped by length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DEFAULT_EDGES = (15, 30, 45)


@dataclass(frozen=True)
class LengthBins:
    """The boundaries of length groups.

    Attributes:
        edges: ascending lengths.
        upper_inclusive: whether a length on an edge belongs to the shorter group: ≤10, 11–20, …,
            >50. Otherwise it belongs to the longer one: <15, 15–29, …, ≥45.
    """

    edges: tuple[int, ...] = DEFAULT_EDGES
    upper_inclusive: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each group; the numbers are its shortest and longest length."""
        step = int(self.upper_inclusive)
        first, last = ("≤", ">") if self.upper_inclusive else ("<", "≥")
        between = [
            f"{low + step}–{high - 1 + step}" if high - low > 1 else f"{low + step}"
            for low, high in zip(self.edges, self.edges[1:])
        ]
        return (f"{first}{self.edges[0]}", *between, f"{last}{self.edges[-1]}")

    def bounds(self) -> tuple[tuple[int, int | None], ...]:
        """The shortest and longest length of each group; None = any."""
        step = int(self.upper_inclusive)
        lows = (0, *(edge + step for edge in self.edges))
        highs = (*(edge - 1 + step for edge in self.edges), None)
        return tuple(zip(lows, highs))

    def members(self, lengths: Sequence[int]) -> list[np.ndarray]:
        """The positions of the sentences of each group.

        Args:
            lengths: of each sentence.
        """
        groups = np.digitize(lengths, self.edges, right=self.upper_inclusive)
        return [np.flatnonzero(groups == group) for group in range(len(self.edges) + 1)]
