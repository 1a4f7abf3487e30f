"""Options reach what they set: values of modules, and the layers whose self-attention changes."""

from operator import attrgetter

import pytest
import torch
from fairseq.modules import MultiheadAttention
from small_models import annotated_batch, build, random_sentences

VALUES = [
    ("pascal_transformer", "--parent-ignoring=0.3", "encoder.parent_scaling.ignoring", 0.3),
    (
        *("pascal_transformer", "--parent-ignoring=0.3 --parent-ignoring-per-head"),
        *("encoder.parent_scaling.ignoring_per_head", True),
    ),
    (
        *("syntax_transformer", "--tree-distance=exp --tree-distance-ignoring=0.3"),
        *("encoder.tree_distance.ignoring", 0.3),
    ),
    ("feature_transformer", "--feature-dropout=0.3", "encoder.feature_tables.dropout", 0.3),
    *(
        (
            *("latent_phrase_transformer", "--syntactic-distance-lookback=3"),
            *(f"{half}.layers.1.self_attn.syntactic_distance.lookback", 3),
        )
        for half in ("encoder", "decoder")
    ),
    ("variational_rnn", "--latent-noise=0.3", "decoder.recurrence.noise", 0.3),
    ("gcn_transformer", "--encoder-normalize-before", "encoder.graph_convolution.norm", "before"),
    ("rnn_search", "--encoder-dropout-in=0.3", "encoder.dropout_in.p", 0.3),
    ("rnn_search", "--encoder-dropout-out=0.3", "encoder.dropout_out.p", 0.3),
    ("rnn_search", "--decoder-dropout-in=0.3", "decoder.dropout_in.p", 0.3),
    ("rnn_search", "--dropout=0.3", "decoder.dropout.p", 0.3),
    ("rnn_search", "--encoder-freeze-embed", "encoder.embed_tokens.weight.requires_grad", False),
    ("rnn_search", "--decoder-freeze-embed", "decoder.embed_tokens.weight.requires_grad", False),
]


@pytest.mark.parametrize(("arch", "options", "place", "value"), VALUES)
def test_values(folder, arch, options, place, value):
    """Without the options the value is another one."""
    value_of = attrgetter(place)
    assert value_of(build(folder, arch, *options.split())[0]) == value
    if arch != "syntax_transformer":
        assert value_of(build(folder, arch)[0]) != value


@pytest.mark.parametrize("name", ["syntax", "phrase", "constituent", "latent_phrase"])
def test_every_attention_has_its_dropout(folder, name):
    model, *_ = build(folder, f"{name}_transformer", "--attention-dropout=0.3")
    found = [x.dropout_module.p for x in model.modules() if isinstance(x, MultiheadAttention)]
    assert len(found) >= 6
    assert {*found} == {0.3}


ALL, NONE = [0, 1, 2, 3, 4], []
LAYERS = [
    ("pascal_transformer", "--parent-scaled-layer=3", "factor", [3], NONE),
    ("lisa_transformer", "--lisa-inject --lisa-layer=3", "bias", [3], NONE),
    ("syntax_transformer", "--tree-distance=normal", "factor", [0, 1, 2], NONE),
    ("syntax_transformer", "--tree-distance=alibi", "bias", ALL, NONE),
    ("syntax_transformer", "--tree-distance=exp --tree-distance-layers=2", "bias", [0, 1], NONE),
    ("syntax_transformer", "--structural-positions=relative", "bias", ALL, NONE),
    ("syntax_transformer", "--position-bias=decay", "bias", [0, 1], [0, 1]),
    ("syntax_transformer", "--position-bias=t5", "bias", ALL, ALL),
    ("syntax_transformer", "--position-bias=t5 --position-bias-layers=3", "bias", *[[0, 1, 2]] * 2),
]


@pytest.mark.parametrize(("arch", "options", "kind", "of_encoder", "of_decoder"), LAYERS)
@torch.no_grad()
def test_layers_that_change(folder, arch, options, kind, of_encoder, of_decoder):
    """Those whose self-attention has a bias or factor, of five; the others have neither."""
    five = ("--encoder-layers=5", "--decoder-layers=5")
    model, task, _ = build(folder, arch, *five, *options.split())
    sample = annotated_batch(model, task, random_sentences([6, 6]), random_sentences([5, 5], 9))
    found = {"encoder": [], "decoder": []}
    for half, layers in found.items():
        for layer in getattr(model, half).layers:
            layer.self_attn.register_forward_hook(  # after all that changes the arguments
                lambda module, args, given, output, layers=layers: layers.append(
                    [name for name in ("bias", "factor") if given.get(name) is not None]
                ),
                with_kwargs=True,
            )
    model(**sample["net_input"])
    for half, changed in (("encoder", of_encoder), ("decoder", of_decoder)):
        assert found[half] == [[kind] if layer in changed else [] for layer in range(5)]
