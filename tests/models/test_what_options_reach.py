"""Options reach what they set: values of modules, and the layers whose self-attention changes."""

import shlex
from dataclasses import fields
from functools import cache
from operator import attrgetter

import pytest
import torch
from fairseq.modules import MultiheadAttention
from methods import DECLARED
from small_models import annotated_batch, build, fill_zeros, random_sentences
from small_training import trains_as

from syntax_nmt.arguments import attribute
from syntax_nmt.backbone.additive_attention import AdditiveAttention
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.column_labels import ColumnLabelOptions

# The last of the options sets the value.
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
    ("factor_transformer", "--target-factor-score=0.3", "decoder.joint_score", True),
    *(
        ("latent_phrase_transformer", option, f"{half}.layers.1.self_attn.{place}", value)
        for half in ("encoder", "decoder")
        for option, place, value in (
            ("--syntactic-distance-lookback=3", "syntactic_distance.lookback", 3),
            ("--syntactic-distance-temperature=10", "temperature", 10),
            ("--syntactic-distance-gate=sigmoid", "alpha", "sigmoid"),
        )
    ),
    *(
        ("phrase_transformer", option, f"{half}.layers.1.phrase_combination.{place}", True)
        for half in ("encoder", "decoder")
        for option, place in (
            ("--phrase-residual-attention", "residual_attention"),
            ("--phrase-literal-sigmoid", "literal_sigmoid"),
        )
    ),
    ("lisa_transformer", "--lisa-attention=gold", "encoder.lisa_injection.in_training", True),
    ("lisa_transformer", "--lisa-inject", "encoder.lisa_injection.always", True),
    ("variational_rnn", "--latent-noise=0.3", "decoder.recurrence.noise", 0.3),
    (
        *("bi_scale_rnn", "--chunk-context=boundary"),
        *("decoder.recurrence.clock.context_every_step", False),
    ),
    (
        "bi_scale_rnn",
        "--chunk-attention=word",
        "decoder.recurrence.attention.__class__",
        AdditiveAttention,
    ),
    ("bi_scale_rnn", "--chunk-readout=both", "decoder.readout_of", "both"),
    ("bi_scale_rnn", "--no-joint-score", "decoder.joint_score", False),
    ("bi_scale_rnn", "--chunk-tags=NP", "annotation_labels", {CHUNKS: ("NP",)}),
    *(
        ("relation_rnn", option, f"encoder.network.relations.1.{place}", value)
        for option, place, value in (
            ("--relation-parallel-convolutions", "convolutions.parallel", True),
            (
                "--relation-norm-before-activation",
                "convolutions.convolutions.1.norm_before_activation",
                True,
            ),
            ("--relation-block=5", "graph_propagation.block", 5),
            ("--relation-kept-pairs=7", "graph_propagation.kept_pairs", 7),
        )
    ),
    ("gcn_transformer", "--encoder-normalize-before", "encoder.graph_convolution.norm", "before"),
    ("gcn_transformer", "--gcn-skip=dense", "encoder.graph_convolution.skip", "dense"),
    *(
        ("gcn_transformer", option, f"encoder.graph_convolution.layers.1.{place}", value)
        for option, place, value in (
            ("--gcn-arcs=in", "directions", ("in",)),
            ("--gcn-no-gates", "gated", False),
            ("--gcn-edge-dropout=0.3", "edge_dropout", 0.3),
        )
    ),
    ("tree_coverage_rnn", "--tree-coverage=word", "decoder.recurrence.coverage.of_children", False),
    ("rnn_search", "--encoder-dropout-in=0.3", "encoder.dropout_in.p", 0.3),
    ("rnn_search", "--encoder-dropout-out=0.3", "encoder.dropout_out.p", 0.3),
    ("rnn_search", "--decoder-dropout-in=0.3", "decoder.dropout_in.p", 0.3),
    ("rnn_search", "--dropout=0.3", "decoder.dropout.p", 0.3),
    ("rnn_search", "--encoder-freeze-embed", "encoder.embed_tokens.weight.requires_grad", False),
    ("rnn_search", "--decoder-freeze-embed", "decoder.embed_tokens.weight.requires_grad", False),
]


@cache
def built(folder, arch, *options):
    return build(folder, arch, *options)[:2]


@pytest.mark.parametrize(("arch", "options", "place", "value"), VALUES)
def test_values(folder, arch, options, place, value):
    """Without the options the value is another one."""
    value_of = attrgetter(place)
    assert value_of(build(folder, arch, *options.split())[0]) == value
    if arch != "syntax_transformer":
        assert value_of(built(folder, arch)[0]) != value


# A model, and options that change it, one after the other.
CHANGES = [
    (
        "syntax_transformer",
        "--source-features=upos --feature-unknown=0.9 '--feature-upos=<unk> NOUN'",
    ),
    (
        "syntax_transformer --source-features=upos --feature-merge=overwrite --feature-dims=3",
        "--feature-merge=concat --feature-dims=4",
    ),
    (
        "syntax_transformer",
        "--target-factors=upos --target-factor-dropout=0.9 --target-factor-shift=predict "
        "'--target-feature-upos=<unk> NOUN'",
    ),
    ("syntax_transformer --target-factors=upos", "--target-factor-inputs=none"),
    ("syntax_transformer", "--position-bias=decay --position-bias-layers=1"),
    (
        "syntax_transformer",
        "--structural-positions=relative --structural-clip=2 --structural-rule=lca "
        "--structural-positions=absolute,relative --structural-fusion=add",
    ),
    (
        "syntax_transformer",
        "--parent-scaled-layer=0 --parent-scaled-heads=2 --parent-scaled-variance=3",
    ),
    (
        "syntax_transformer",
        "--tree-distance=normal --tree-distance-strength=0.5 --tree-distance-variance=3 "
        "--tree-distance-layers=1",
    ),
    (
        "syntax_transformer",
        "--latent-phrase-layers=1 --local-attention-window=1 --local-attention-layers=1",
    ),
    (
        "syntax_transformer",
        "--constituent-attention=both --constituent-embeddings=vertical --constituent-mask=all "
        "--constituent-attention=encoder",
    ),
    ("syntax_transformer --constituent-attention=both", "--constituent-values=plain"),
    (
        "syntax_transformer",
        "--phrase-segmentation=ngram --phrase-eos-apart --phrase-summary=mean --phrase-attention "
        "--phrase-hidden-dim=6 --phrase-combine-dim=10 --transparent-attention "
        "--transparent-token-attention",
    ),
    (
        "syntax_transformer",
        "--supervised-layer=0 --dependency-scorer=biaffine --target-supervised-layer=0 "
        "--dependency-labels=full --dependency-label-dim=5 --supervised-layer=1",
    ),
    (
        "syntax_transformer",
        "--target-supervised-layer=0 --target-dependency-shift=predict",
    ),
    (
        "syntax_transformer '--feature-deprel=<unk> nsubj nsubj:pass'",
        "--lisa-layer=0 --lisa-dim=6 --dependency-labels=full --dependency-labels=universal",
    ),
    (
        "syntax_transformer",
        "--tree-reg-layer=0 --tree-reg-share=0.5 --target-tree-reg-layer=0 --tree-reg-layer=1",
    ),
    (
        "syntax_transformer '--feature-deprel=<unk> nsubj nsubj:pass'",
        "--gcn-layers=2 --gcn-pieces=all --gcn-labels=universal --gcn-placement=bottom",
    ),
    ("rnn_search_cgru", "--bi-scale"),
    ("rnn_search_cgru", "--latent-dim=2 --latent-dim=3 --latent-from=prior"),
    ("rnn_search", "--encoder-gru=stacked --encoder-gru=dense --relation-dense-embedding"),
    (
        "rnn_search",
        "--relation-kernels=3:8 --relation-hidden-dim=10 --relation-placement=top",
    ),
    (
        "rnn_search",
        "--tree-order-encoder=child --tree-order-encoder=child,head --tree-order-fusion=concat",
    ),
    (
        "rnn_search_cgru",
        "--tree-encoder=bidirectional --tree-attention=nodes --tree-coverage=word "
        "--coverage-dim=3 --tree-coverage=tree --tree-start=tree --tree-encoder=up",
    ),
]


@pytest.mark.parametrize(("base", "options"), CHANGES)
def test_changes(pieces_folder, base, options):
    """Each option changes parameters or the loss of a training step, whatever the weights are."""
    given, added = shlex.split(base), shlex.split(options)
    models = [built(pieces_folder, *given, *added[:count]) for count in range(len(added) + 1)]
    for option, (before, task), (after, _) in zip(added, models, models[1:]):
        assert not trains_as(before, after, task), f"{option} changes nothing"


# A model with its criterion, and options of the loss that change it, one after the other.
LOSSES = [
    ("tree_reg_transformer --criterion=tree_reg_cross_entropy", "--tree-reg-weight=0.3"),
    (
        "lisa_transformer --dependency-labels=full --criterion=lisa_cross_entropy",
        "--parse-weight=0.3 --label-weight=0.3",
    ),
    (
        "dependency_transformer --dependency-labels=full --target-supervised-layer=0 "
        "--criterion=dependency_cross_entropy",
        "--child-weight=0.3 --parent-weight=0.3 --target-parent-weight=0.3 --label-weight=0.3",
    ),
    (
        "latent_phrase_transformer --criterion=synchronous_cross_entropy",
        "--sync-weight=0.3 --sync-normalize=mean --sync-margin=0.3 --sync-shift --sync-loss=mse",
    ),
    (
        "syntax_transformer --criterion=synchronous_cross_entropy --sync-loss=attention",
        "--sync-layers=1 --sync-encoder-layers=1 --sync-decoder-layers=1 --sync-cross-layers=0",
    ),
    (
        "variational_rnn --latent-from=posterior --criterion=variational_cross_entropy",
        "--kl-weight=0.3 --kl-warmup=900 --free-nats=9",
    ),
    (
        "bi_scale_rnn --criterion=chunk_cross_entropy",
        "--boundary-weight=0.3 --chunk-tag-weight=0.3",
    ),
    (
        "factor_transformer --criterion=factor_cross_entropy",
        "--target-factor-weight=0.3 --target-factor-pieces=last",
    ),
]


def training_loss(folder, options):
    """Of a step after 300 updates, in float64, as `fairseq-train` would compute it."""
    model, task, cfg = build(folder, *options)
    criterion = task.build_criterion(cfg.criterion)
    fill_zeros(model).double().train().set_num_updates(300)
    sample = annotated_batch(model, task, random_sentences([5, 9]), random_sentences([7, 6], 9))
    torch.manual_seed(3)
    return float(criterion(model, sample)[0].detach())


@pytest.mark.parametrize(("base", "options"), LOSSES)
def test_options_of_a_loss(pieces_folder, base, options):
    added = options.split()
    rows = [[*base.split(), *added[:count]] for count in range(len(added) + 1)]
    losses = [training_loss(pieces_folder, row) for row in rows]
    for option, before, after in zip(added, losses, losses[1:]):
        assert abs(before - after) > 1e-9 * before, f"{option} changes nothing"


# Made alike for each column of a side: those of UPOS stand for all.
OF_COLUMNS = {each.name for each in fields(ColumnLabelOptions) if not each.name.endswith("_upos")}


def test_every_option_of_a_method_is_tested_here():
    """One that is not could be ignored: the tests of methods ask the model for its settings."""
    last = [options.split()[-1] for _, options, _, _ in VALUES]
    rows = [shlex.split(options) for _, options in (*CHANGES, *LOSSES)]
    tested = {attribute(x.partition("=")[0]) for row in (last, *rows) for x in row}
    losses = [method.loss.options for method in DECLARED if method.loss is not None]
    options = (*(method.options for method in DECLARED), *losses)
    declared = {each.name for of_method in options for each in fields(of_method)} - {"_name"}
    untested = sorted(declared - tested - OF_COLUMNS)
    assert not untested, f"give each of {untested} a row of VALUES, CHANGES or LOSSES"


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
