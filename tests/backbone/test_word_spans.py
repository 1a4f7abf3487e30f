"""Words out of tensors of subwords are those of the rules for lines of strings; means of words."""

import random

import pytest
import torch
from fairseq.data import Dictionary

from syntax_nmt.backbone.numerics import mean_of_words
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.subwords import SENTENCEPIECE, pieces_per_word

PIECES = {
    "sentencepiece": ["▁", "▁a", "▁b", "c", "d", "▁▁"],
    "subword-nmt": ["a@@", "b@@", "c", "d", "@@"],
    "none": ["a", "b", "c", "d"],
}


@pytest.fixture(params=PIECES)
def words(request):
    dictionary = Dictionary()
    for piece in PIECES[request.param]:
        dictionary.add_symbol(piece)
    spans = WordSpans(dictionary)
    assert spans.scheme == request.param
    return spans, dictionary


@pytest.mark.parametrize("left_pad", [False, True], ids=["right", "left"])
def test_equals_the_rules_for_strings(words, left_pad):
    spans, dictionary = words
    draw = random.Random(1)
    lines = [draw.choices(PIECES[spans.scheme], k=draw.randint(0, 9)) for _ in range(400)]
    width = 12
    tokens = torch.full((len(lines), width), dictionary.pad())
    first = torch.arange(width).repeat(len(lines), 1)
    last = first.clone()
    for row, line in enumerate(lines):
        start = width - len(line) - 1 if left_pad else 0
        ids = [dictionary.index(piece) for piece in line] + [dictionary.eos()]
        tokens[row, start : start + len(ids)] = torch.tensor(ids)
        for count in pieces_per_word(line, spans.scheme, "line"):
            first[row, start : start + count] = start
            last[row, start : start + count] = start + count - 1
            start += count
    found = spans(tokens)
    torch.testing.assert_close(found.first, first)
    torch.testing.assert_close(found.last, last)
    assert torch.equal(spans.openers(tokens), first.eq(torch.arange(width)))
    if spans.scheme == SENTENCEPIECE:
        assert any(line[-1:] == ["▁"] and len(line) > 1 for line in lines)  # a word without letters


def test_mean_of_real_words():
    states = torch.randn(2, 5, 3, dtype=torch.float64)
    padding = torch.tensor([[True, True, False, False, False], [False, True, True, True, True]])
    states[padding] = float("nan")
    expected = torch.stack([states[0, 2:].mean(dim=0), states[1, 0]])
    torch.testing.assert_close(mean_of_words(states, padding), expected)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_means_of_long_sentences_in_half_precision(kind):
    """The sum of 1,000 words of 100 is beyond float16."""
    states = torch.full((1, 1000, 2), 100.0, dtype=kind)
    mean = mean_of_words(states, torch.zeros(1, 1000, dtype=torch.bool))
    assert mean.dtype == kind
    assert (mean == 100).all()
