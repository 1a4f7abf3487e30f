"""Latent phrases and local attention in the whole model."""

import pytest
import torch
from latent_phrase_loops import gated_attention
from small_models import batch, build, random_sentences

from syntax_nmt.backbone.structures import StructureLayers
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention
from syntax_nmt.methods.latent_phrases.gates import OPENNESS

PHRASES = ["--phrase-segmentation=ngram", "--phrase-attention", "--transparent-attention"]
VARIANTS = {
    "paper": [],
    "released": ["--syntactic-distance-gate=sigmoid", "--syntactic-distance-temperature=10"],
    "pre-norm": ["--encoder-normalize-before", "--decoder-normalize-before"],
    "no-positions": ["--no-token-positional-embeddings"],
    "phrases": [*PHRASES, "--supervised-layer=0"],
    "own factors": ["--target-factors=upos,deprel"],
}
EVERYTHING = StructureLayers((0, 1), (0, 1), (0, 1), (0, 1), (0, 1))


def sample_for(task, **options):
    sources, targets = random_sentences([9, 4, 12, 6]), random_sentences([5, 8, 3, 4], 4)
    return batch(task.source_dictionary, sources, targets, **options)


def strong(model):
    """Distances far enough apart for gates to close."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, PhraseGatedAttention):
                module.syntactic_distance.weight.mul_(30)
    return model


@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_structures_are_those_the_layers_used(folder, variant):
    """Each gated layer, given what it got, by the equations."""
    model, task, _ = build(folder, "latent_phrase_transformer", *VARIANTS[variant])
    strong(model).double()
    sample, seen = sample_for(task), {}
    layers = [*model.encoder.layers, *model.decoder.layers]
    for index, layer in enumerate(layers):
        layer.self_attn.register_forward_pre_hook(
            lambda module, args, kwargs, index=index: seen.update({index: kwargs["query"]}),
            with_kwargs=True,
        )
    _, extra = model(**sample["net_input"], structures=EVERYTHING)
    source_real = sample["net_input"]["src_tokens"].ne(task.source_dictionary.pad())
    target_real = sample["target"].ne(task.source_dictionary.pad())
    for index, layer in enumerate(layers):
        side, real = ("source", source_real) if index < 2 else ("target", target_real)
        for row in range(4):
            x = seen[index][real[row], row]
            _, weights, distances = gated_attention(layer.self_attn, x)
            found = extra[f"{side}_distances"][index % 2][row][:, real[row]]
            torch.testing.assert_close(found, distances, atol=1e-10, rtol=0)
            found = extra[f"{side}_attention"][index % 2][row, real[row]][:, real[row]]
            torch.testing.assert_close(found, weights.mean(dim=0), atol=1e-10, rtol=0)


@torch.no_grad()
def test_asking_for_structures_changes_nothing(folder):
    model, task, _ = build(folder, "latent_phrase_transformer", *PHRASES, "--supervised-layer=1")
    inputs = sample_for(task)["net_input"]
    expected, extra = strong(model)(**inputs)
    logits, more = model(**inputs, structures=EVERYTHING)
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-4)
    assert set(more) - set(extra) == {
        "source_distances", "target_distances", "source_attention", "target_attention",
        "cross_attention",
    }  # fmt: skip
    torch.testing.assert_close(more["supervised_heads"], extra["supervised_heads"])


@torch.no_grad()
def test_attention_is_averaged_where_alignments_are_learnt(folder):
    """`--load-alignments` has the top layer give the weights of each head."""
    sample, given = None, []
    for options in ([], ["--load-alignments"]):
        model, task, _ = build(folder, "latent_phrase_transformer", *options)
        sample = sample or sample_for(task)
        torch.manual_seed(3)
        for parameter in model.parameters():
            parameter.normal_(std=0.1)
        model.eval()
        _, extra = model(**sample["net_input"], structures=EVERYTHING)
        given.append(extra["cross_attention"])
    for without, learnt in zip(*given):
        torch.testing.assert_close(learnt, without)


def test_open_gates_are_the_stock_model(folder, monkeypatch):
    stock, task, _ = build(folder, "syntax_transformer")
    model, _, _ = build(folder, "latent_phrase_transformer")
    missing, unexpected = model.load_state_dict(stock.state_dict(), strict=False)
    assert all("syntactic_distance" in name for name in missing)
    assert not unexpected
    inputs = sample_for(task)["net_input"]
    assert (model(**inputs)[0] - stock(**inputs)[0]).abs().max() > 1e-3
    zeros = torch.zeros_like
    monkeypatch.setitem(OPENNESS, "hardtanh", lambda x, temperature: (zeros(x), zeros(x)))
    torch.testing.assert_close(model(**inputs)[0], stock(**inputs)[0], atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("norm", ["paper", "pre-norm"])
def test_local_attention(folder, norm):
    """The lowest two layers of three see two neighbours on either side, and the top one all."""
    model, task, _ = build(
        folder, "syntax_transformer", "--encoder-layers=3", "--local-attention-window=2",
        *VARIANTS[norm],
    )  # fmt: skip
    asked = StructureLayers(source_attention=(0, 1, 2))
    for left_pad in (True, False):
        sample = sample_for(task, left_pad_source=left_pad)
        _, extra = model(**sample["net_input"], structures=asked)
        real = sample["net_input"]["src_tokens"].ne(task.source_dictionary.pad())
        for row in range(4):
            weights = [w[row, real[row]][:, real[row]] for w in extra["source_attention"]]
            size = len(weights[0])
            near = (torch.arange(size)[:, None] - torch.arange(size)).abs() <= 2
            for layer in (0, 1):
                assert (weights[layer][~near] == 0).all()
                assert (weights[layer][near] > 0).all()
            assert (weights[2] > 0).all()


@pytest.mark.parametrize("size", ["", "_tiny", "_iwslt_de_en", "_wmt_en_de", "_wmt_en_de_big"])
def test_presets(folder, size):
    model, _, _ = build(
        folder, f"latent_phrase_transformer{size}", "--encoder-layers=3", "--decoder-layers=3"
    )
    for half in (model.encoder, model.decoder):
        gated = [isinstance(layer.self_attn, PhraseGatedAttention) for layer in half.layers]
        assert gated == [True, True, False]
        assert half.layers[0].self_attn.syntactic_distance.lookback == 5


OFF = ["--latent-phrase-layers=0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--latent-phrase-layers=3"], "--latent-phrase-layers 3: the encoder has 2 layers"),
        (["--latent-phrase-layers=-1"], "give a number from 0 to 2"),
        (["--syntactic-distance-temperature=0"], "--syntactic-distance-temperature 0"),
        (["--syntactic-distance-temperature=nan"], "--syntactic-distance-temperature nan"),
        (["--syntactic-distance-temperature=inf"], "--syntactic-distance-temperature inf"),
        ([*OFF, "--syntactic-distance-lookback=3"], "lookback needs --latent-phrase-layers"),
        (["--syntactic-distance-lookback=-1"], "lookback -1: give a number from 0 on"),
        ([*OFF, "--local-attention-window=-1"], "window -1: give a number from 0 on"),
        ([*OFF, "--syntactic-distance-temperature=-7"], "temperature needs --latent-phrase-layers"),
        ([*OFF, "--syntactic-distance-gate=sigmoid"], "gate needs --latent-phrase-layers"),
        (["--encoder-layerdrop=0.1"], "with --encoder-layerdrop: leave --encoder-layerdrop out"),
        (["--local-attention-layers=9"], "--local-attention-layers needs --local-attention-window"),
        (["--local-attention-window=2", "--local-attention-layers=3"], "the encoder has 2 layers"),
    ],
)
def test_contradicting_options(folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, "latent_phrase_transformer", *arguments)
