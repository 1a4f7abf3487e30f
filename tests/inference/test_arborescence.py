"""Against every tree with one root that there is."""

import itertools

import numpy as np
import pytest

from syntax_nmt.data.dependency_tree import find_cycle
from syntax_nmt.inference.extraction.dependencies import maximum_arborescence


def single_root_trees(words):
    for heads in itertools.product(range(words), repeat=words):
        roots = [word for word, head in enumerate(heads) if head == word]
        if len(roots) == 1 and is_tree(heads):
            yield list(heads)


def is_tree(heads):
    roots = [word for word, head in enumerate(heads) if head == word]
    return len(roots) == 1 and not find_cycle(
        [-1 if word == head else head for word, head in enumerate(heads)]
    )


def total(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads))


@pytest.mark.parametrize("shift", [-3.0, 0.0, 50.0])
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_brute_force(words, shift):
    trees = list(single_root_trees(words))
    assert len(trees) == words ** (words - 1)  # Cayley
    generator = np.random.default_rng(words)
    for _ in range(60):
        scores = generator.normal(size=(words, words)) * 3 + shift
        best = max(trees, key=lambda heads: total(scores, heads))
        assert maximum_arborescence(scores) == best


@pytest.mark.parametrize("words", [3, 4, 5])
def test_every_word_would_like_to_be_the_root(words):
    trees = list(single_root_trees(words))
    generator = np.random.default_rng(words)
    for _ in range(60):
        scores = generator.normal(size=(words, words)) + 20 * np.eye(words)
        best = max(trees, key=lambda heads: total(scores, heads))
        assert maximum_arborescence(scores) == best


def test_forbidden_arcs_are_avoided_where_possible():
    generator = np.random.default_rng(0)
    trees = list(single_root_trees(4))
    for _ in range(60):
        scores = generator.normal(size=(4, 4))
        scores[generator.random((4, 4)) < 0.4] = -np.inf
        best = max(trees, key=lambda heads: total(scores, heads))
        found = maximum_arborescence(scores)
        assert is_tree(found)
        assert total(scores, found) == total(scores, best)


@pytest.mark.parametrize("words", [6, 17, 40])
@pytest.mark.parametrize("kind", ["random", "equal", "probabilities", "forbidden"])
def test_one_root_and_no_cycle(words, kind):
    generator = np.random.default_rng(words)
    scores = generator.normal(size=(words, words)) * 5
    if kind == "equal":
        scores[:] = 0
    elif kind == "probabilities":
        scores = np.log(np.exp(scores) / np.exp(scores).sum(1, keepdims=True))
    elif kind == "forbidden":
        scores[:] = -np.inf
    before = scores.copy()
    assert is_tree(maximum_arborescence(scores))
    assert np.array_equal(scores, before)


@pytest.mark.parametrize("scores", [np.zeros((0, 0)), np.zeros((2, 3)), [[np.nan]], [[np.inf]]])
def test_what_is_no_matrix_of_scores(scores):
    with pytest.raises(ValueError, match="scores"):
        maximum_arborescence(scores)
