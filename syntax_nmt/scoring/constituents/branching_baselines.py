"""Trees that depend only on the sentence length: baselines for induced trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syntax_nmt.scoring.constituents.bracketing import Span


def right_branching(words: int) -> frozenset[Span]:
    """The brackets of `(a (b (c d)))`.

    Args:
        words: how many there are; fewer than two have no brackets.
    """
    return frozenset((start, words) for start in range(words - 1))


def left_branching(words: int) -> frozenset[Span]:
    """The brackets of `(((a b) c) d)`.

    Args:
        words: how many there are.
    """
    return frozenset((0, end) for end in range(2, words + 1))


def balanced(words: int) -> frozenset[Span]:
    """The brackets of the tree that is halved again and again: `((a b) (c d))`.

    With an odd number of words the right half gets one more: `(a (b c))`.

    Args:
        words: how many there are.
    """
    brackets = []
    waiting = [(0, words)]
    while waiting:
        start, end = waiting.pop()
        if end - start > 1:
            brackets.append((start, end))
            middle = (start + end) // 2
            waiting += [(start, middle), (middle, end)]
    return frozenset(brackets)


BASELINES: Final[dict[str, Callable[[int], frozenset[Span]]]] = {
    "right-branching": right_branching,
    "left-branching": left_branching,
    "balanced": balanced,
}
