"""Words of binarised subwords, and the trees over them."""

import random

import numpy as np
import pytest
from inspected_data import is_projective
from nonempty import some
from trees_of import random_heads

from syntax_nmt.data.dependency_tree import word_depths
from syntax_nmt.data.figures.text_figures import WordOpeners
from syntax_nmt.data.figures.word_trees import WordTrees, lift_heads
from syntax_nmt.data.projection import project_heads
from syntax_nmt.data.ragged import RowBlock
from syntax_nmt.data.subwords import SCHEMES, pieces_per_word


def project(sentences, rng):
    """Heads over pieces, sentence after sentence: heads, sizes, which pieces open a word."""
    heads, sizes, opens = [], [], []
    for words in sentences:
        counts = [rng.choice((1, 1, 1, 2, 3)) for _ in words]
        heads.append(project_heads(words, counts))
        sizes.append(sum(counts))
        opens += [place == 0 for count in counts for place in range(count)]
    return np.concatenate(heads), np.array(sizes), np.array(opens)


def check(sentences, rng):
    trees, follows = lift_heads(*project(sentences, rng))
    assert follows.all()
    assert trees.sizes.tolist() == list(map(len, sentences))
    parents = np.split(trees.parents - np.repeat(trees.starts, trees.sizes), trees.starts[1:])
    assert [row.tolist() for row in parents] == [list(heads) for heads in sentences]
    depths, are_trees = trees.depths()
    assert are_trees.all()
    assert depths.tolist() == [depth for heads in sentences for depth in word_depths(heads)]
    assert trees.projective(depths).tolist() == [is_projective(heads) for heads in sentences]


def test_random_trees_there_and_back():
    rng = random.Random(1)
    sentences = [random_heads(rng, rng.randrange(1, 8)) for _ in range(2000)]
    chains = [[*range(1, 300), 299], [0, *range(299)]]
    check(sentences + chains, rng)
    projective = [is_projective(heads) for heads in sentences]
    assert 200 < sum(projective) < 1800  # both kinds are there


def test_what_is_no_tree():
    sizes = np.array([2, 2, 2, 4, 1])  # what stands before each sentence: 0, 2, 4, 6 and 10 words
    trees = WordTrees(np.array([1, 1, *(3, 2), *(4, 5), *(7, 8, 6, 9), 10]), sizes)
    depths, are_trees = trees.depths()
    assert are_trees.tolist() == [True, False, False, False, True]
    kept = trees.select(are_trees)
    assert kept.parents.tolist() == [1, 1, 2]
    assert kept.sizes.tolist() == [2, 1]
    assert depths[[0, 1, 10]].tolist() == [1, 0, 0]


def test_heads_that_do_not_follow_the_words():
    opens = np.array([True, True, False] * 4)
    heads = np.array([[1, 1, 1], [2, 1, 1], [1, 1, 0], [1, 2, 1]]).ravel()
    _, follows = lift_heads(heads, np.array([3, 3, 3, 3]), opens)
    assert follows.tolist() == [True, False, False, False]


PIECES = {
    "sentencepiece": ["▁", "▁▁", "▁a", "b", "<unk>", "▁▁c"],
    "subword-nmt": ["a@@", "b", "@@", "<unk>", "c@@", "@@d"],
    "none": ["▁a", "b@@", "c"],
}


def block_of(sentences):
    tokens = np.array([token for row in sentences for token in row], dtype=np.uint16)
    return RowBlock(0, tokens, np.array([len(row) for row in sentences], dtype=np.int64))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_open_where_the_reader_of_lines_opens_them(scheme):
    rng = random.Random(1)
    pieces = PIECES[scheme]
    sentences = [[rng.randrange(len(pieces)) for _ in range(rng.randrange(7))] for _ in range(5000)]
    block = block_of(sentences)
    opens = np.split(WordOpeners(pieces, scheme)(block), np.cumsum(block.sizes)[:-1])
    for row, found in some(zip(sentences, opens)):
        counts = pieces_per_word([pieces[token] for token in row], scheme, "it")
        expected = [place == 0 for count in counts for place in range(count)]
        assert found.tolist() == expected, row


def test_sentences_without_subwords():
    for scheme in some(SCHEMES):
        assert WordOpeners(["a"], scheme)(block_of([[], []])).tolist() == []


def test_pieces_that_reach_over_the_end_of_a_word():
    block = block_of([[0], [1]])
    assert WordOpeners(["▁a", "b▁c"], "sentencepiece").reach_over(block)
    assert not WordOpeners(["▁a", "▁▁c"], "sentencepiece").reach_over(block)
    assert not WordOpeners(["▁a", "b▁c"], "none").reach_over(block)
