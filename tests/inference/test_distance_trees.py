"""Binary trees from gaps, against the definition written as a recursion."""

import random
from itertools import product

import nltk
import pytest

from syntax_nmt.data.constituents import format_tree, parse_tree
from syntax_nmt.inference.extraction.constituents import spans_of_gaps, tree_of_spans


def split(start, end, gaps):
    """The definition: at the largest gap, the leftmost of equals, and each part again."""
    if end - start < 2:
        return set()
    inside = range(start, end - 1)
    middle = 1 + max(inside, key=lambda gap: (gaps[gap], -gap))
    return {(start, end)} | split(start, middle, gaps) | split(middle, end, gaps)


def test_by_hand():
    assert spans_of_gaps([]) == []
    assert spans_of_gaps([0.3]) == [(0, 2)]
    assert set(spans_of_gaps([1, 3, 2])) == {(0, 4), (0, 2), (2, 4)}
    # Equal gaps branch to the right.
    assert set(spans_of_gaps([2, 2, 2])) == {(0, 4), (1, 4), (2, 4)}
    assert set(spans_of_gaps([1, 2, 1, 2])) == {(0, 5), (0, 2), (2, 5), (2, 4)}


@pytest.mark.parametrize("words", [2, 3, 4, 5, 6])
def test_every_tree_and_every_tie(words):
    found = set()
    for gaps in product(range(words - 1), repeat=words - 1):
        spans = spans_of_gaps(gaps)
        assert set(spans) == split(0, words, gaps), gaps
        assert len(spans) == words - 1
        found.add(frozenset(spans))
    assert len(found) == [1, 2, 5, 14, 42][words - 2]  # all binary trees: Catalan's numbers


def test_long_sentences():
    dice = random.Random(2)
    gaps = [dice.uniform(-1, 1) for _ in range(300)]
    assert set(spans_of_gaps(gaps)) == split(0, 301, gaps)
    for gaps in ([0.0] * 4999, list(range(4999)), list(range(4999, 0, -1))):
        words = [str(index) for index in range(5000)]
        tree = tree_of_spans(words, spans_of_gaps(gaps))
        assert parse_tree(format_tree(tree), "t", 0) == tree


def nested(words, gaps):
    """The tree as nltk has it."""
    if len(words) == 1:
        return nltk.Tree("W", words)
    middle = gaps.index(max(gaps))
    parts = [(words[: middle + 1], gaps[:middle]), (words[middle + 1 :], gaps[middle + 1 :])]
    return nltk.Tree("X", [nested(*part) for part in parts])


def test_brackets_of_nltk():
    dice = random.Random(4)
    for size in [2, 3, 4, 5, 9, 20] * 5:
        words = [f"w{index}" for index in range(size)]
        gaps = [dice.choice([0.1, 0.2, 0.3, dice.random()]) for _ in range(size - 1)]
        line = format_tree(tree_of_spans(words, spans_of_gaps(gaps)))
        assert nltk.Tree.fromstring(line) == nested(words, gaps)


def test_one_word():
    assert format_tree(tree_of_spans(["see"], spans_of_gaps([]))) == "(X (W see))"


def test_spans_of_any_arity():
    tree = tree_of_spans(["a", "b", "c", "d", "e"], [(1, 4), (1, 3)])
    assert format_tree(tree) == "(X (W a) (X (X (W b) (W c)) (W d)) (W e))"
    assert parse_tree(format_tree(tree), "t", 0) == tree
