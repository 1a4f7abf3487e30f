"""Random draws that are the same on every platform and Python version.

Everything is built on `random.Random.random`, the only method whose sequence Python promises
to keep, and on additions and divisions, which IEEE 754 rounds the same everywhere.
"""

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Zipf(Generic[Item]):
    """Items with frequencies in proportion to 1 / (rank + shift), Zipf's law as Mandelbrot has it.

    Args:
        items: the most frequent first.
        shift: flattens the head of the distribution.
    """

    def __init__(self, items: Sequence[Item], shift: float = 0.5) -> None:
        self.items = tuple(items)
        self.cumulative = list(accumulate(1 / (rank + 1 + shift) for rank in range(len(items))))


class Draw:
    """A stream of random decisions.

    Args:
        name: the stream's seed; streams of different names are independent.
    """

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)

    def chance(self, probability: float) -> bool:
        """True with the probability given."""
        return self._random.random() < probability

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(self._random.random() * len(items))]

    def word(self, items: Zipf[Item]) -> Item:
        """One of the items, after Zipf's law."""
        point = self._random.random() * items.cumulative[-1]
        return items.items[min(bisect_right(items.cumulative, point), len(items.items) - 1)]

    def weighted(self, choices: Sequence[tuple[Item, float]]) -> Item:
        """One of the items, each as likely as its weight says."""
        point = self._random.random() * sum(weight for _, weight in choices)
        for item, weight in choices:
            point -= weight
            if point < 0:
                return item
        return choices[-1][0]
