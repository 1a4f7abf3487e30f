"""From attention to trees, with attention made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from trees_of import tree_of

from syntax_nmt.evaluation.dependencies.uas import attachment_score
from syntax_nmt.evaluation.extraction.parent_head import (
    length_batches,
    merge_to_words,
    parse_of_scores,
)

HEADS = [[1, 1, 1, 4, 2], [0], [1, 2, 3, 3], [3, 0, 1, 3, 3, 4, 5, 6]]


def attention_along(heads, rest=0.1):
    scores = np.full((len(heads), len(heads)), rest / len(heads))
    scores[np.arange(len(heads)), heads] += 1 - rest
    return np.log(scores)


def uas_of(matrices):
    parses = [parse_of_scores(["w"] * len(matrix), matrix) for matrix in matrices]
    trees = [tree_of(parse.heads) for parse in parses]
    return attachment_score(trees, [tree_of(heads) for heads in HEADS])


def test_perfect_attention_is_a_perfect_parser():
    assert uas_of([attention_along(heads) for heads in HEADS]).uas == 100
    assert uas_of([attention_along(heads) for heads in HEADS]).root_accuracy == 100


def test_rotated_attention_is_not():
    rotated = [np.roll(attention_along(heads), 1, axis=1) for heads in HEADS]
    assert uas_of(rotated).uas < 50


def test_strongest_weights_need_not_be_a_tree():
    parse = parse_of_scores(
        ["a", "b", "c"], np.log([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
    )
    assert parse.strongest == (1, 0, 1)
    assert parse.heads == (1, 1, 1)


def test_a_word_is_its_first_piece():
    # Pieces: w1 = 0 1, w2 = 2, w3 = 3 4 5.
    scores = np.arange(36.0).reshape(6, 6)
    expected = [[0, 2, 3], [12, 14, 15], [18, 20, 21]]
    assert merge_to_words(scores, [2, 1, 3]).tolist() == expected


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
