"""Trees that only know how long the sentence is."""

import pytest

from syntax_nmt.scoring.constituents.bracketing import (
    BASELINES,
    balanced,
    left_branching,
    right_branching,
)


def test_by_hand():
    assert right_branching(4) == {(0, 4), (1, 4), (2, 4)}
    assert left_branching(4) == {(0, 4), (0, 3), (0, 2)}
    assert balanced(4) == {(0, 4), (0, 2), (2, 4)}
    assert balanced(3) == {(0, 3), (1, 3)}
    assert balanced(5) == {(0, 5), (0, 2), (2, 5), (3, 5)}
    assert balanced(7) == {(0, 7), (0, 3), (1, 3), (3, 7), (3, 5), (5, 7)}


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("words", [0, 1, 2, 3, 5, 8, 31, 1000])
def test_binary_trees(name, words):
    """As many brackets as a binary tree has, and no two of them cross."""
    spans = BASELINES[name](words)
    assert len(spans) == max(words - 1, 0)
    assert words < 2 or (0, words) in spans
    if words < 100:
        assert not any(a < c < b < d for a, b in spans for c, d in spans)
