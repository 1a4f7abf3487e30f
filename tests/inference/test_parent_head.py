"""From attention made by hand to trees, against every tree with one root that there is."""

import itertools

import numpy as np
import pytest
import torch
from trees_of import is_tree

from syntax_nmt.inference.extraction.dependencies import maximum_arborescence, parsed
from syntax_nmt.inference.source_text import SourceSentence, length_batches


def parse(scores, *pieces):
    """Out of scores between the pieces of words."""
    words = tuple("abcdefgh"[: len(pieces)])
    return parsed(SourceSentence(torch.empty(0), words, pieces, "text:1"), scores)


def test_strongest_weights_need_not_be_a_tree():
    found = parse(np.log([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]]), 1, 1, 1)
    assert found.strongest.heads == (1, 0, 1)
    assert found.tree.heads == (1, 1, 1)


def test_a_word_is_its_first_piece():
    # Pieces: w1 = 0 1, w2 = 2, w3 = 3 4 5. The others would make another tree.
    heads, first = (1, 1, 0), [0, 2, 3]
    scores = np.log(np.full((6, 6), 0.9))
    scores[np.ix_(first, first)] = np.log(0.03 + 0.9 * np.eye(3)[list(heads)])
    found = parse(scores, 2, 1, 3)
    assert found.tree.heads == found.strongest.heads == heads


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3])
@pytest.mark.parametrize("max_tokens", [1, 12, 1000])
def test_batches_lose_nothing_and_keep_their_bounds(max_tokens, batch_size):
    lengths = [3, 9, 1, 4, 4, 12, 2]
    indices = [0, 1, 3, 4, 5, 6]
    batches = list(length_batches(indices, lengths, max_tokens, batch_size))
    assert sorted(index for batch in batches for index in batch) == indices
    for batch in batches:
        tokens = len(batch) * max(lengths[index] for index in batch)
        assert tokens <= max_tokens or len(batch) == 1
        assert len(batch) <= (batch_size or len(indices))


def single_root_trees(words):
    return [[*heads] for heads in itertools.product(range(words), repeat=words) if is_tree(heads)]


def total(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads))


@pytest.mark.parametrize(("shift", "of_root"), [(-3.0, 0), (0.0, 0), (50.0, 0), (0.0, 20)])
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_brute_force(words, shift, of_root):
    """Also where every word would like to be the root."""
    trees = single_root_trees(words)
    assert len(trees) == words ** (words - 1)  # Cayley
    generator = np.random.default_rng(words)
    for _ in range(60):
        scores = generator.normal(size=(words, words)) * 3 + shift + of_root * np.eye(words)
        best = max(trees, key=lambda heads: total(scores, heads))
        assert maximum_arborescence(scores) == best


def test_forbidden_arcs_are_avoided_where_possible():
    generator = np.random.default_rng(0)
    trees = single_root_trees(4)
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


@pytest.mark.parametrize("scores", [[[np.nan]], [[np.inf]]])
def test_scores_are_numbers(scores):
    with pytest.raises(ValueError, match="scores"):
        maximum_arborescence(scores)
