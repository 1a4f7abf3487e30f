"""Attention out of forced decoding, and links between words out of it."""

import numpy as np
import pytest
import torch
from fairseq.models.transformer import TransformerModelBase
from forced_models import checkpoint_of, forced_decoder
from nonempty import some
from parser_files import PIECES, TARGETS

from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import (
    CrossAttention,
    align_words,
    strongest_links,
    word_attention,
)
from syntax_nmt.scoring.parallel_text import SegmentedPairs, TokenPair

PAIRS = [
    TokenPair(tuple(source.split()), tuple(target.split()))
    for source, target in zip(PIECES, TARGETS)
]


def test_rows_are_averaged_and_columns_added_up():
    weights = np.array([[0.1, 0.2, 0.6], [0.3, 0.4, 0.2], [0.5, 0.2, 0.1]])
    words = word_attention(weights, [2, 1], [1, 2])
    assert words == pytest.approx(np.array([[0.3, 0.6], [(0.7 + 0.7) / 2, 0.15]]))
    assert strongest_links(words) == {(1, 0), (0, 1)}


def test_words_of_a_loop():
    dice = np.random.default_rng(4)
    weights = dice.random((9, 7))
    sources, targets = [1, 3, 1, 2], [2, 1, 1, 5]
    words = word_attention(weights, sources, targets)
    for t, rows in some(enumerate(np.split(weights, np.cumsum(targets)[:-1]))):
        for s, columns in enumerate(np.split(rows, np.cumsum(sources)[:-1], axis=1)):
            assert words[t, s] == pytest.approx(columns.sum() / targets[t])


def test_the_first_of_equals():
    assert strongest_links(np.array([[0.5, 0.5]])) == {(0, 0)}


@pytest.fixture(
    scope="module", params=["stock", "heads", "phrases", "lstm", "syntax_hybrid+rnn_encoder"]
)
def decoder(request, parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attention")
    return forced_decoder(checkpoint_of(request.param, parser.data, folder), parser.data)


def matrices(decoder, batch_size=None, pairs=PAIRS, **options):
    attention = CrossAttention(decoder, **options)
    found = dict(attention.matrices(pairs, 4000, batch_size))
    return [found[index] for index in range(len(pairs))]


def forced_alone(decoder, pair, **options):
    """One pair through the model itself, without padding; the attention with EOS."""

    def ids(pieces, dictionary):
        return torch.tensor([[dictionary.index(piece) for piece in pieces]], dtype=torch.long)

    eos = torch.tensor([[2]])
    source = torch.cat([ids(pair.source, decoder.task.source_dictionary), eos], 1)
    previous = torch.cat([eos, ids(pair.target, decoder.task.target_dictionary)], 1)
    with torch.no_grad():
        _, extra = decoder.model(source, torch.tensor([source.size(1)]), previous, **options)
    return (extra["attn"][0] if isinstance(extra, dict) else extra)[0].numpy()


def test_weights_are_the_models(decoder):
    transformer = isinstance(decoder.model, TransformerModelBase)
    options = {"alignment_layer": 0} if transformer else {}
    for pair, found in some(zip(PAIRS, matrices(decoder))):
        full = forced_alone(decoder, pair, **options)
        assert full.sum(axis=1) == pytest.approx(np.ones(len(full)), abs=1e-5)
        assert found.shape == (len(pair.target), len(pair.source))
        assert found == pytest.approx(full[:-1, :-1], abs=1e-5)


def test_a_row_is_of_the_piece_that_it_predicts(decoder):
    """Row t must not depend on target piece t, and row t + 1 does."""
    pair = PAIRS[0]
    other = TokenPair(pair.source, (*pair.target[:4], "▁of", *pair.target[5:]))
    before, after = matrices(decoder, pairs=[pair, other])
    assert after[:5] == pytest.approx(before[:5], abs=1e-6)
    assert not np.allclose(after[5], before[5], atol=1e-6)


def test_layers_and_heads(parser, tmp_path):
    checkpoint = checkpoint_of("stock", parser.data, tmp_path)
    decoder = forced_decoder(checkpoint, parser.data)
    for layer in (0, 1):
        options = {"alignment_layer": layer}
        expected = forced_alone(decoder, PAIRS[3], **options)[:-1, :-1]
        for name in (layer, layer - 2):
            assert matrices(decoder, layer=name)[3] == pytest.approx(expected, abs=1e-5)
        one = forced_alone(decoder, PAIRS[3], **options, alignment_heads=1)[:-1, :-1]
        assert matrices(decoder, layer=layer, heads=1)[3] == pytest.approx(one, abs=1e-5)
        assert not np.allclose(one, expected, atol=1e-3)
    assert matrices(decoder)[3] == pytest.approx(matrices(decoder, layer=0)[3])  # penultimate of 2
    for layer in (2, 3, -3):
        with pytest.raises(UserError, match=f"--layer {layer}: the decoder has 2 layers"):
            CrossAttention(decoder, layer=layer)
    with pytest.raises(UserError, match="--heads 5: the decoder's attention has 4 heads"):
        CrossAttention(decoder, heads=5)


def test_links_of_a_corpus(decoder):
    text = SegmentedPairs.of(PAIRS)
    alignments = align_words(CrossAttention(decoder), text, 4000)
    for index, (pair, found, weights) in enumerate(zip(PAIRS, alignments, matrices(decoder))):
        starts = sum(piece.startswith("▁") for piece in pair.target) if pair.source else 0
        assert sorted(target for _, target in found) == list(range(starts))
        words = word_attention(weights, text.source.counts[index], text.target.counts[index])
        assert found == strongest_links(words)
    assert text.flipped().lengths() == [(t, s) for s, t in text.lengths()]
    assert text.lengths()[0] == (6, 12)
