import random

import numpy as np
import pytest
from nonempty import some

from syntax_nmt.data.figures.text_figures import Block, WordOpeners
from syntax_nmt.data.subwords import SCHEMES, pieces_per_word

PIECES = {
    "sentencepiece": ["▁", "▁▁", "▁a", "b", "<unk>", "▁▁c"],
    "subword-nmt": ["a@@", "b", "@@", "<unk>", "c@@", "@@d"],
    "none": ["▁a", "b@@", "c"],
}


def block_of(sentences):
    tokens = np.array([token for row in sentences for token in row], dtype=np.uint16)
    return Block(0, tokens, np.array([len(row) for row in sentences], dtype=np.int64))


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
