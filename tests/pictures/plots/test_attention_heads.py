"""The weights of single heads, against the means and the heads that models give out otherwise."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from forced_models import checkpoint_of, forced_decoder, latent_checkpoint
from methods import MIXED
from parser_files import PIECES

from syntax_nmt.arguments import DECODER, ENCODER
from syntax_nmt.backbone.structures import SOURCE_ATTENTION, TARGET_ATTENTION, StructureLayers
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.alignments import CrossAttention
from syntax_nmt.inference.extraction.attention_heads import (
    attended_heads,
    head_weights,
    mean_entropies,
    unfused_attention,
)
from syntax_nmt.inference.results import HeadWeights
from syntax_nmt.inference.settings import CROSS
from syntax_nmt.scoring.parallel_text import TokenPair

PAIR = TokenPair(tuple(PIECES[0].split()), tuple(PIECES[5].split()))
FAMILIES = ("stock", "phrases", "heads", "latent")


@pytest.fixture(scope="module")
def decoders(parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attention_heads")
    names = (*FAMILIES[:3], "lstm", *MIXED)
    paths = {name: checkpoint_of(name, parser.data, folder) for name in names}
    paths["latent"] = latent_checkpoint(parser.data, folder / "latent.pt")
    return {name: forced_decoder(path, parser.data) for name, path in paths.items()}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", [0, 1])
def test_mean_over_heads_is_the_cross_attention_of_the_layer(decoders, family, layer):
    decoder = decoders[family]
    found = head_weights(decoder, PAIR, CROSS, layer)
    ((_, mean),) = CrossAttention(decoder, layer).matrices([PAIR], 1000)
    np.testing.assert_allclose(found.weights.mean(axis=0)[:-1, :-1], mean, atol=1e-5)
    assert found.layer == layer
    assert np.ptp(found.weights, axis=0).max() > 0.01  # heads differ


@pytest.mark.parametrize("family", ["phrases", "heads", "latent"])
@pytest.mark.parametrize("layer", [0, 1])
def test_mean_over_heads_is_the_self_attention_that_models_return(decoders, family, layer):
    decoder = decoders[family]
    (batch,) = decoder.batches([PAIR], 1000)
    wanted = StructureLayers(source_attention=(layer,), target_attention=(layer,))
    _, extra = decoder.forward(batch, structures=wanted)
    for attention, name in ((ENCODER, SOURCE_ATTENTION), (DECODER, TARGET_ATTENTION)):
        found = head_weights(decoder, PAIR, attention, layer)
        expected = extra[name][0][0].numpy()
        np.testing.assert_allclose(found.weights.mean(axis=0), expected, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("attention", [ENCODER, DECODER, CROSS])
def test_rows_are_distributions_and_the_decoder_looks_back(decoders, family, attention):
    found = head_weights(decoders[family], PAIR, attention)
    lengths = {ENCODER: (9, 9), DECODER: (7, 7), CROSS: (7, 9)}
    assert found.weights.shape == (4, *lengths[attention])
    if family != "latent" or attention == CROSS:  # gates take a part of the weights away
        np.testing.assert_allclose(found.weights.sum(axis=2), 1, atol=1e-5)
    future = np.triu(np.ones(found.weights.shape[1:]), 1)
    assert ((found.weights * future).max() == 0) == (attention == DECODER)


def test_supervised_heads_are_those_of_the_criterion(decoders):
    decoder = decoders["heads"]
    (batch,) = decoder.batches([PAIR], 1000)
    _, extra = decoder.forward(batch, return_all_hiddens=True)
    found = head_weights(decoder, PAIR, ENCODER)
    assert found.tasks == {0: "children", 1: "parents"}
    expected = extra["supervised_heads"][0].exp().numpy()
    np.testing.assert_allclose(found.weights[:2], expected, atol=1e-5)
    other = 1 - found.layer
    assert not head_weights(decoder, PAIR, ENCODER, other).tasks


def test_the_encoder_needs_no_translation(decoders):
    decoder, alone = decoders["heads"], TokenPair(PAIR.source, ())
    with_one = head_weights(decoder, PAIR, ENCODER).weights
    np.testing.assert_allclose(head_weights(decoder, alone, ENCODER).weights, with_one, atol=1e-6)


def test_the_model_is_left_as_it_was(decoders):
    decoder = decoders["stock"]
    (batch,) = decoder.batches([PAIR], 1000)
    before = decoder.forward(batch)[0]
    head_weights(decoder, PAIR, ENCODER)
    modules = list(decoder.model.modules())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in modules)
    assert not any(getattr(module, "skip_embed_dim_check", False) for module in modules)
    torch.testing.assert_close(decoder.forward(batch)[0], before)


def test_layers_may_go_round_their_attention_again():
    """As those of fairseq 0.12.2 do; of another version they have no such switch."""
    fast, other, attention = (SimpleNamespace() for _ in range(3))
    fast.can_use_fastpath, attention.skip_embed_dim_check = True, False
    with unfused_attention(SimpleNamespace(layers=[fast, other]), attention):
        assert (fast.can_use_fastpath, attention.skip_embed_dim_check) == (False, True)
    assert (fast.can_use_fastpath, attention.skip_embed_dim_check) == (True, False)
    assert vars(other) == {}


def test_recurrent_models_have_one_attention(decoders):
    found = head_weights(decoders["lstm"], PAIR, CROSS)
    assert found.weights.shape == (1, 6, 8)
    assert (found.layer, found.with_eos) == (None, False)
    for attention, layer in ((ENCODER, None), (DECODER, None), (CROSS, 0)):
        with pytest.raises(UserError, match=r"--attention|--layer"):
            head_weights(decoders["lstm"], PAIR, attention, layer)


def test_mixed_models_have_what_their_sides_have(decoders):
    """A side that is a Transformer has all heads; of an RNN decoder there is the one attention."""
    rnn_decoder, rnn_encoder = (decoders[name] for name in MIXED)
    heads = head_weights(rnn_decoder, PAIR, ENCODER)
    assert heads.weights.shape == (4, 9, 9)
    assert (heads.layer, list(heads.tasks)) == (1, [0, 1])
    assert head_weights(rnn_decoder, PAIR, CROSS).weights.shape == (1, 6, 8)
    with pytest.raises(UserError, match="decoder is not a Transformer: give --attention cross"):
        head_weights(rnn_decoder, PAIR, DECODER)
    assert head_weights(rnn_encoder, PAIR, DECODER).weights.shape == (4, 7, 7)
    assert head_weights(rnn_encoder, PAIR, CROSS, -1).weights.shape == (4, 7, 9)
    with pytest.raises(UserError, match="the model's encoder is not a Transformer"):
        head_weights(rnn_encoder, PAIR, ENCODER)


def test_layers_count_from_both_ends(decoders):
    decoder = decoders["stock"]
    top = head_weights(decoder, PAIR, ENCODER, -1)
    assert top.layer == 1
    assert head_weights(decoder, PAIR, ENCODER).layer == 0  # the penultimate one
    with pytest.raises(UserError, match="--layer 2: the encoder has 2 layers"):
        head_weights(decoder, PAIR, ENCODER, 2)


def entropy(rows):
    """Bits by loops, of rows that need not add up to 1."""
    total = 0.0
    for row in rows:
        for weight in row:
            share = weight / sum(row)
            total -= share * math.log2(share) if share else 0
    return total / len(rows)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("attention", [ENCODER, DECODER, CROSS])
def test_all_layers_at_once_and_their_entropy(decoders, family, attention):
    decoder = decoders[family]
    found = attended_heads(decoder, PAIR)
    assert (found.source, found.target) == (PAIR.source, PAIR.target)
    for layer, of_layer in enumerate(found.layers[attention]):
        expected = head_weights(decoder, PAIR, attention, layer)
        np.testing.assert_allclose(of_layer.weights, expected.weights, atol=1e-5)
        assert (of_layer.layer, of_layer.tasks) == (layer, expected.tasks)
        by_loops = [entropy(head.tolist()) for head in of_layer.weights]
        assert found.entropies(attention)[layer] == pytest.approx(by_loops, abs=1e-5)


def test_entropy_over_a_text_is_the_mean_over_its_queries(decoders):
    numbers = ((0, 5), (3, 1))
    pairs = [TokenPair(*(tuple(PIECES[i].split()) for i in pair)) for pair in numbers]
    left_out = TokenPair((), pairs[0].target)
    for attention in (ENCODER, DECODER, CROSS):
        found = mean_entropies(decoders["heads"], [*pairs, left_out], attention)
        assert (found.sentences, found.left_out) == (2, 1)
        each = [attended_heads(decoders["heads"], pair) for pair in pairs]
        queries = [len(of_pair.layers[attention][0].weights[0]) for of_pair in each]
        sums = sum(n * of_pair.entropies(attention) for n, of_pair in zip(queries, each))
        np.testing.assert_allclose(found.bits, sums / sum(queries))
        keys = [
            k if attention == DECODER else of_pair.layers[attention][0].weights.shape[2]
            for of_pair, n in zip(each, queries)
            for k in range(1, n + 1)
        ]
        assert found.even == pytest.approx(sum(map(math.log2, keys)) / sum(queries))
        assert (found.bits <= found.even + 1e-6).all()


def test_entropy_of_extremes():
    even = HeadWeights(np.full((1, 3, 8), 1 / 8), 0)
    one = HeadWeights(np.eye(8)[None, :3], 0)
    assert even.entropies() == pytest.approx([3])
    assert one.entropies() == pytest.approx([0])


def test_a_recurrent_decoder_has_one_attention(decoders):
    found = attended_heads(decoders["lstm"], PAIR)
    assert set(found.layers) == {CROSS}
    assert found.entropies(CROSS).shape == (1, 1)
    with pytest.raises(UserError, match="is not a Transformer"):
        mean_entropies(decoders["lstm"], [PAIR], ENCODER)
    with pytest.raises(UserError, match="no sentence has words and fits"):
        mean_entropies(decoders["stock"], [TokenPair((), ())], CROSS)
