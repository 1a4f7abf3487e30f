"""From attention to trees, with attention made by hand."""

import numpy as np
import pytest
import torch
from trees_of import tree_of

from syntax_nmt.inference.extraction.dependencies import parsed
from syntax_nmt.inference.source_text import SourceSentence, length_batches
from syntax_nmt.scoring.dependencies.uas import attachment_score

HEADS = [[1, 1, 1, 4, 2], [0], [1, 2, 3, 3], [3, 0, 1, 3, 3, 4, 5, 6]]


def attention_along(heads, rest=0.1):
    scores = np.full((len(heads), len(heads)), rest / len(heads))
    scores[np.arange(len(heads)), heads] += 1 - rest
    return np.log(scores)


def parse(scores, pieces=None):
    """Out of scores between the pieces of words, of one piece each if not told otherwise."""
    pieces = pieces or [1] * len(scores)
    words = tuple("abcdefgh"[: len(pieces)])
    return parsed(SourceSentence(torch.empty(0), words, tuple(pieces), "text:1"), scores)


def uas_of(matrices):
    trees = [parse(matrix).tree for matrix in matrices]
    return attachment_score(trees, [tree_of(heads) for heads in HEADS])


def test_perfect_attention_is_a_perfect_parser():
    assert uas_of([attention_along(heads) for heads in HEADS]).uas == 100
    assert uas_of([attention_along(heads) for heads in HEADS]).root_accuracy == 100


def test_rotated_attention_is_not():
    rotated = [np.roll(attention_along(heads), 1, axis=1) for heads in HEADS]
    assert uas_of(rotated).uas < 50


def test_strongest_weights_need_not_be_a_tree():
    found = parse(np.log([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]]))
    assert found.strongest.heads == (1, 0, 1)
    assert found.tree.heads == (1, 1, 1)


def test_a_word_is_its_first_piece():
    # Pieces: w1 = 0 1, w2 = 2, w3 = 3 4 5. The others would make another tree.
    heads, pieces = (1, 1, 0), [2, 1, 3]
    scores = np.log(np.full((6, 6), 0.9))
    first = [0, 2, 3]
    scores[np.ix_(first, first)] = attention_along(heads)
    assert parse(scores, pieces).tree.heads == heads
    assert parse(scores, pieces).strongest.heads == heads


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
