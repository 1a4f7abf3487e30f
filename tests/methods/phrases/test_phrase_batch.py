"""The phrases of a padded batch equal those of one sentence at a time."""

import numpy as np
import pytest
import torch
from phrase_loops import ngrams

from syntax_nmt.data.collation import collate_phrases
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError
from syntax_nmt.methods.phrases.segmentation import ngram_phrases, parsed_phrases


def padding_of(sizes, left, width=None):
    width = width or max(sizes)
    rows = []
    for size in sizes:
        pads, tokens = [True] * (width - size), [False] * size
        rows.append(pads + tokens if left else tokens + pads)
    return torch.tensor(rows)


def check(batch, padding, lengths_of_each):
    """Every field, against one sentence at a time."""
    for row, lengths in enumerate(lengths_of_each):
        pads = padding[row].tolist()
        count = batch.lengths.size(1)
        assert batch.lengths[row].tolist() == lengths + [0] * (count - len(lengths))
        assert batch.padding[row].tolist() == [False] * len(lengths) + [True] * (
            count - len(lengths)
        )
        phrase_of = [number for number, length in enumerate(lengths) for _ in range(length)]
        for column, pad in enumerate(pads):
            members = batch.members[row, :, column].nonzero().flatten().tolist()
            if pad:
                assert members == []
                assert 0 <= batch.index[row, column] < count
            else:
                phrase = phrase_of[pads[:column].count(False)]
                assert members == [phrase]
                assert batch.index[row, column] == phrase
        of_row = batch.rows.view_as(batch.index)[row]
        assert torch.equal(of_row, row * count + batch.index[row])
        assert batch.index[row].diff().ge(0).all()
    assert torch.equal(batch.token_padding, padding)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("wider", [0, 1, 30])
@pytest.mark.parametrize("eos_apart", [False, True])
def test_ngrams_of_every_size(left, wider, eos_apart):
    """Sizes 1 (EOS alone) to 130 in one batch; EOS is a phrase of its own where that is wanted."""
    sizes = list(range(1, 131))
    padding = padding_of(sizes, left, 130 + wider)
    expected = [ngrams(size, eos_apart) for size in sizes]
    assert (expected[0], expected[4]) == ([1], [3, 1, 1] if eos_apart else [3, 2])
    check(ngram_phrases(padding, eos_apart), padding, expected)


def test_rows_are_counted_once_for_all_layers():
    phrases = ngram_phrases(padding_of([4, 9], False, 9))
    assert phrases.rows is phrases.rows


def test_pads_within_sentences():
    """A typed `<pad>` belongs to no phrase, and takes none from the tokens after it."""
    torch.manual_seed(0)
    padding = torch.rand(200, 40) < 0.3
    padding[:, 17] = False
    check(ngram_phrases(padding), padding, [ngrams(int(size)) for size in (~padding).sum(dim=1)])


@pytest.mark.parametrize("eos_apart", [False, True])
def test_the_width_leaves_room_for_every_size(eos_apart):
    """The number of phrases is bounded by the width, in which any shorter sentence may stand."""
    for width in range(1, 60):
        padding = padding_of(range(1, width + 1), True)
        expected = [ngrams(size, eos_apart) for size in range(1, width + 1)]
        check(ngram_phrases(padding, eos_apart), padding, expected)


@pytest.mark.parametrize("left", [True, False])
def test_parsed_and_unparsed_sentences(left):
    """The sentences' own phrases, as a data set puts them into a batch."""
    sizes = [7, 12, 1, 20, 40]
    padding = padding_of(sizes, left, 42)
    parsed = [[2, 1, 3], None, [], [9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], None]
    rows = RaggedArray.from_rows([np.array([-1] if row is None else row) for row in parsed])
    lengths = collate_phrases(rows, np.arange(len(sizes)), np.array(sizes))
    expected = [ngrams(size) if row is None else [*row, 1] for row, size in zip(parsed, sizes)]
    check(parsed_phrases(padding, lengths), padding, expected)


def test_phrases_of_another_text_are_refused():
    padding = padding_of([4, 6], True)
    with pytest.raises(UserError, match="sentence 1 of a batch have 5 tokens, the sentence 6"):
        parsed_phrases(padding, torch.tensor([[3, 1], [4, 1]], dtype=torch.int32))
