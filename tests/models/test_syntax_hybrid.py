"""Encoders and decoders of both families in one model."""

from argparse import Namespace
from dataclasses import fields
from itertools import combinations, product

import pytest
import torch
from bi_scale_loops import EqualOutputs, decode
from fairseq import options as fairseq_options
from fairseq import tasks
from latent_phrase_loops import gated_attention
from omegaconf import OmegaConf
from phrase_loops import encoder_layer, ngrams
from relation_loops import relation_network
from small_models import (
    assert_same_gradients,
    batch,
    build,
    configuration,
    enlarge,
    open_gate,
    random_sentences,
    small_sizes,
)
from small_training import criterion_of, sample_of, tied_layers

from syntax_nmt.errors import UserError
from syntax_nmt.export.stock_transformer import feature_in_the_way
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention
from syntax_nmt.methods.latent_phrases.tied_layers import tied_distances
from syntax_nmt.models.family_options import STACKS, stacks_of
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.syntax_hybrid import build_of_families
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel
from syntax_nmt.task.yaml_options import refuse_unknown_options

TRANSFORMER, RNN = "transformer", "rnn"
ALL = (
    *("syntax_hybrid_tiny", "--phrase-segmentation=ngram", "--supervised-layer=-1"),
    *("--phrase-attention", "--latent-phrase-layers=2", "--bi-scale", "--relation-kernels=3:16"),
)


def families(encoder, decoder):
    return (f"--encoder-family={encoder}", f"--decoder-family={decoder}")


# Against loops

SOURCES, LENGTHS = [6, 3, 8, 1], [4, 6, 3, 5]
CHUNK_TAGS = [[1, 0, 2, 4], [3, 1, 0, 0, 2, 4], [-1, -1, -1], [2, 0, 0, 1, 4]]


def strong_model(folder):
    """All that the loops have matters: gates close, messages are heard, chunks open and not."""
    model, task, _ = build(folder, *ALL)
    enlarge(model.decoder)
    enlarge(model.encoder.relation)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, PhraseGatedAttention):
                module.syntactic_distance.weight.mul_(30)
    return open_gate(model).double(), task


def annotations(encoder, sources):
    """S×C of each source by a Transformer encoder of phrases, gates and relations, all at once, as
    batch norms in training mode see all their words.
    """
    sentences = []
    for source in sources:
        x = encoder.forward_embedding(source[None])[0][0]
        for layer in encoder.layers:
            x, _ = encoder_layer(
                layer, x, ngrams(len(source)), lambda attention, y: gated_attention(attention, y)[0]
            )
        sentences.append(encoder.layer_norm(x))
    return [x + new for x, new in zip(sentences, relation_network(encoder.relation, sentences))]


def loops(model, inputs):
    """The equations over each sentence of a batch."""
    pad = model.encoder.dictionary.pad()
    sources, targets = (
        [row[row.ne(pad)] for row in inputs[name]] for name in ("src_tokens", "prev_output_tokens")
    )
    for h, target, tags in zip(annotations(model.encoder, sources), targets, CHUNK_TAGS):
        given = [tag if tag < 0 else int(tag > 0) for tag in tags]
        yield decode(model.decoder, h, target, given)


def inputs_for(task):
    sources, targets = random_sentences(SOURCES), random_sentences(LENGTHS, 4)
    inputs = batch(task.source_dictionary, sources, targets)["net_input"]
    rows = [row + [-1] * (max(LENGTHS) - len(row)) for row in CHUNK_TAGS]
    return {**inputs, "chunk_tags": torch.tensor(rows, dtype=torch.int32)}


@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
def test_equals_the_equations(folder, training):
    """A Transformer encoder with phrases, gates and a relation network, and a bi-scale decoder."""
    model, task = strong_model(folder)
    inputs = inputs_for(task)
    logits, extra = model.train(training)(**inputs)
    pad, outputs = task.source_dictionary.pad(), EqualOutputs()
    for number, (length, expected) in enumerate(zip(LENGTHS, loops(model, inputs))):
        real = inputs["src_tokens"][number].ne(pad)
        outputs.compare(logits[number, :length], expected.logits)
        outputs.compare(extra["attn"][0][number, :length][:, real], expected.attn)
        assert extra["opened"][0][number, :length].tolist() == expected.opened
        outputs.compare(extra["boundary_logits"][0][number, :length].log_softmax(-1), expected.gate)
        for t, log_probabilities in expected.tags.items():
            outputs.compare(extra["tag_logits"][0][number, t].log_softmax(-1), log_probabilities)
    assert_same_gradients(model, outputs.found, outputs.expected)


# The pure cases

PURE = {
    "syntax_transformer_tiny": families(TRANSFORMER, TRANSFORMER),
    "dependency_transformer_tiny": (*families(TRANSFORMER, TRANSFORMER), "--supervised-layer=-1"),
    "latent_phrase_transformer": (*families(TRANSFORMER, TRANSFORMER), "--latent-phrase-layers=2"),
    "structural_transformer_tiny": (
        *families(TRANSFORMER, TRANSFORMER),
        "--structural-positions=absolute,relative",
    ),
    "rnn_search": families(RNN, RNN),
    "relation_rnn_tiny": (*families(RNN, RNN), "--conditional-gru", "--relation-kernels=3:32"),
    "bi_scale_rnn_tiny": (
        *families(RNN, RNN),
        *("--conditional-gru", "--bi-scale", "--chunk-context=step", "--readout=tanh"),
    ),
}


@pytest.mark.parametrize("arch", PURE)
@torch.no_grad()
def test_pure_cases_are_the_families(folder, arch):
    """The same parameters under the same names, from the same seed the same numbers."""
    size = "_tiny" if arch.endswith("_tiny") else ""
    expected, task, cfg = build(folder, arch)
    model, _, of_hybrid = build(folder, "syntax_hybrid" + size, *PURE[arch])
    assert isinstance(model, SyntaxRNNModel) == ("rnn" in arch)
    assert list(model.state_dict()) == list(expected.state_dict())
    for name, weight in expected.state_dict().items():
        assert torch.equal(model.state_dict()[name], weight), name
    inputs = sample_of(expected, task, (5, 9))["net_input"]
    assert torch.equal(model(**inputs)[0], expected(**inputs)[0])
    for name in ("dropout", "encoder_embed_dim", "decoder_embed_dim", "decoder_layers"):
        default = {"decoder_layers": 1}.get(name)
        assert getattr(of_hybrid.model, name, default) == getattr(cfg.model, name, default), name


def parsed(folder, arch, *arguments):
    """Options without those that keep tests small."""
    command = [str(folder), "--arch", arch, "--task", "syntax_translation", "-s", "src"]
    parser = fairseq_options.get_training_parser()
    return fairseq_options.parse_args_and_arch(parser, [*command, "-t", "tgt", *arguments])


def test_sizes_of_the_presets(folder):
    shapes = {}
    for arch in ("syntax_hybrid", "syntax_hybrid_tiny"):
        for chosen in product((TRANSFORMER, RNN), repeat=2):
            args = parsed(folder, arch, *families(*chosen))
            names = ("encoder_layers", "decoder_layers", "encoder_embed_dim", "decoder_hidden_size")
            shapes[(arch, *chosen)] = tuple(getattr(args, name, None) for name in names)
    tiny = "syntax_hybrid_tiny"
    assert shapes["syntax_hybrid", TRANSFORMER, RNN] == (6, 1, 512, None)
    assert shapes["syntax_hybrid", RNN, TRANSFORMER] == (None, 6, 512, None)
    assert shapes["syntax_hybrid", TRANSFORMER, TRANSFORMER] == (6, 6, 512, None)
    assert shapes["syntax_hybrid", RNN, RNN] == (None, None, None, None)  # the options' defaults
    assert shapes[tiny, TRANSFORMER, RNN] == (2, 1, 64, 128)
    assert shapes[tiny, RNN, TRANSFORMER] == (None, 2, 64, None)
    assert shapes[tiny, RNN, RNN] == (None, None, 128, None)


# Which methods go together

METHODS = {
    "heads": ("--supervised-layer=-1",),
    "phrases": ("--phrase-segmentation=ngram", "--phrase-attention"),
    "latent": ("--latent-phrase-layers=2",),
    "relation": ("--relation-kernels=3:16",),
    "chunks": ("--bi-scale",),
}
SOME = [
    pytest.param(chosen, marks=pytest.mark.slow if len(chosen) > 2 else ())
    for count in range(2, 6)
    for chosen in combinations(METHODS, count)
]


def cannot_be(chosen, encoder, decoder):
    """What a model of such halves does not have."""
    if encoder == RNN and {"heads", "phrases"} & set(chosen):
        yield "a Transformer encoder"
    if {encoder, decoder} == {RNN} and "latent" in chosen:
        yield "Transformers"
    if decoder == TRANSFORMER and "chunks" in chosen:
        yield "an RNN decoder"


@pytest.mark.parametrize("encoder", [TRANSFORMER, RNN])
@pytest.mark.parametrize("decoder", [TRANSFORMER, RNN])
@pytest.mark.parametrize("chosen", SOME, ids="+".join)
def test_methods_together(folder, chosen, encoder, decoder):
    """They train three steps with every loss they have, and search; or one line says what lacks."""
    arguments = [*families(encoder, decoder), *(part for name in chosen for part in METHODS[name])]
    lacking = "|".join(cannot_be(chosen, encoder, decoder))
    if lacking:
        with pytest.raises(UserError, match=rf"^--[a-z-]+ is an option of ({lacking}), .* give --"):
            build(folder, "syntax_hybrid_tiny", *arguments)
        return
    model, task, _ = build(folder, "syntax_hybrid_tiny", *arguments)
    criterion, sample = criterion_of(model, task, "rank"), sample_of(model, task, (9, 4, 1))
    has_gold = {"heads", "chunks"} & set(chosen)
    assert len(criterion.objectives) == len(has_gold) + bool(tied_layers(model))
    optimizer, losses = torch.optim.Adam(model.parameters(), 3e-3), []
    for _ in range(3):
        optimizer.zero_grad()
        loss, _, _ = criterion(model.train(), sample)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[0]
    assert all(parameter.grad is not None for parameter in model.parameters())
    generator = task.build_generator([model.eval()], Namespace(beam=3, max_len_a=0, max_len_b=6))
    found = task.inference_step(generator, [model], sample)
    assert [len(hypotheses) for hypotheses in found] == [3, 3, 1]  # nothing to translate


@pytest.mark.parametrize(("encoder", "decoder", "lacking"), [
    (TRANSFORMER, RNN, "decoder"), (RNN, TRANSFORMER, "encoder"),
])  # fmt: skip
def test_nothing_is_tied_to_an_rnn(folder, encoder, decoder, lacking):
    arguments = (*families(encoder, decoder), *METHODS["latent"])
    model, _, _ = build(folder, "syntax_hybrid_tiny", *arguments)
    with pytest.raises(
        UserError, match=f"the model's {lacking} is not one of syntax_nmt's .*--sync-weight"
    ):
        tied_distances(model, 2)


# What is refused

REFUSED = {
    ("syntax_transformer", "--bi-scale"):
        "--bi-scale is an option of an RNN decoder, which this architecture does not have: give "
        "--arch syntax_hybrid --encoder-family transformer --decoder-family rnn",
    ("dependency_transformer_tiny", "--encoder-gru", "dense"):
        "--encoder-gru is an option of an RNN encoder, and the model's is a Transformer: leave it "
        "out, or give --arch syntax_hybrid --encoder-family rnn",
    ("syntax_hybrid", "--relation-kernels=3:8", "--relation-dense-embedding"):
        "--relation-dense-embedding is an option of an RNN encoder, and the model's is a ",
    ("bi_scale_rnn", "--supervised-layer", "-1"):
        "--supervised-layer is an option of a Transformer encoder, which this architecture does "
        "not have: give --arch syntax_hybrid --encoder-family transformer --decoder-family rnn",
    ("rnn_search_tiny", "--transparent-attention"):
        "--transparent-attention is an option of a Transformer decoder, which this architecture "
        "does not have: give --arch syntax_hybrid --encoder-family rnn --decoder-family transf",
    ("relation_rnn", "--activation-fn=gelu"):
        "--activation-fn is an option of Transformers, which this architecture does not have: "
        "give --arch syntax_hybrid --encoder-family transformer --decoder-family rnn",
    ("syntax_hybrid", "--transparent-attention", "--phrase-segmentation=ngram"):
        "--transparent-attention is an option of a Transformer decoder, and the model has "
        "none: give --decoder-family transformer, or leave it out",
    ("syntax_hybrid", "--decoder-attention-heads=2"):
        "--decoder-attention-heads is an option of a Transformer decoder, and the model has "
        "none: give --decoder-family transformer, or leave it out",
    ("syntax_hybrid", "--encoder-dropout-in=0.1"):
        "--encoder-dropout-in is an option of an RNN encoder, and the model has none: "
        "give --encoder-family rnn, or leave it out",
    ("syntax_hybrid", *families(RNN, TRANSFORMER), "--encoder-layers=3"):
        "--encoder-layers is an option of a Transformer encoder, and the model has none: "
        "give --encoder-family transformer, or leave it out",
    ("syntax_hybrid", *families(RNN, RNN), "--activation-fn=gelu"):
        "--activation-fn is an option of Transformers, and the model has "
        "none: give --decoder-family transformer, or leave it out",
    ("phrase_transformer", "--decoder-family=rnn"):
        "--decoder-family is an option of mixed models: give --arch syntax_hybrid, which has one",
    ("syntax_hybrid", *families(RNN, TRANSFORMER), "--cross-self-attention"):
        "--cross-self-attention puts the source among the target's own states, which are those of "
        "Transformers: give --encoder-family transformer, or leave it out",
    ("syntax_hybrid", *families(RNN, TRANSFORMER), "--no-cross-attention"):
        "--no-cross-attention: nothing would read the RNN encoder",
    ("syntax_hybrid", *families(TRANSFORMER, TRANSFORMER), "--phrase-segmentation=ngram",
     "--relation-kernels=3:8", "--no-cross-attention"):
        "--no-cross-attention: nothing would read the relation network",
    ("syntax_hybrid", *families(TRANSFORMER, TRANSFORMER), "--phrase-segmentation=ngram",
     "--transparent-attention", "--transparent-token-attention", "--relation-kernels=3:8"):
        "--transparent-token-attention reads the layers of the Transformer, and nothing would read",
    ("gcn_transformer", "--phrase-segmentation=ngram", "--transparent-attention",
     "--transparent-token-attention"):
        "--transparent-token-attention reads the layers of the Transformer, and nothing would read "
        "graph convolution on top of them",
    ("syntax_hybrid", "--relation-block=64"): "--relation-block needs --relation-kernels",
    ("syntax_hybrid", "--relation-hidden-dim=64"):
        "--relation-hidden-dim needs --relation-kernels",
    ("syntax_hybrid", "--latent-phrase-layers=3", "--encoder-layers=2"):
        "--latent-phrase-layers 3: the encoder has 2 layers; give a number from 0 to 2",
}  # fmt: skip


@pytest.mark.parametrize(("command", "message"), REFUSED.items(), ids=map(" ".join, REFUSED))
def test_refused_in_one_line(folder, command, message):
    with pytest.raises(UserError) as refused:
        build_plain(folder, *command)
    assert str(refused.value).startswith(message)


def build_plain(folder, *command):
    """Some of the options that keep tests small would be refused."""
    cfg = configuration(parsed(folder, *command))
    return tasks.setup_task(cfg.task).build_model(cfg.model)


def test_refused_in_a_yaml():
    cfg = OmegaConf.create({"_name": "dependency_transformer_tiny", "bi_scale": True})
    with pytest.raises(
        UserError, match=r"^model\.bi_scale: --bi-scale is an option of an RNN decod"
    ):
        refuse_unknown_options(cfg)
    for key, value, wanted in (
        ("supervised_layer", "-1", "a number"),
        ("syntactic_distance_temperature", "1", "a number"),
        ("phrase_attention", "false", "true or false"),
    ):
        cfg = OmegaConf.create({"_name": "dependency_transformer_tiny", key: value})
        message = f"^model.{key}: '{value}' is text: give {wanted}, without quotation marks$"
        with pytest.raises(UserError, match=message):
            refuse_unknown_options(cfg)
    with pytest.raises(UserError, match="--encoder-family lstm: choose transformer or rnn"):
        build_of_families(Namespace(encoder_family="lstm", decoder_family="rnn"), None)


# Whatever else a model of its own has


def test_yaml_and_command_line_are_one(folder):
    """fairseq-hydra-train hands the options over in another form; labels are kept with them."""
    arch, *arguments = ALL
    model, task, cfg = build(folder, arch, *arguments)
    assert cfg.model.chunk_tags == "NP VP O"
    given = {"_name": arch, "phrase_segmentation": "ngram", "phrase_attention": True}
    given |= {"supervised_layer": -1, "latent_phrase_layers": 2, "bi_scale": True}
    given |= {"relation_kernels": "3:16"}
    sizes = iter(small_sizes(arch, 16, arguments))
    given |= {
        name.strip("-").replace("-", "_"): float(value) if "drop" in name else int(value)
        for name, value in zip(sizes, sizes)
    }
    yaml = OmegaConf.create(given)
    torch.manual_seed(7)
    same = task.build_model(yaml).state_dict()
    assert yaml.chunk_tags == "NP VP O"
    for name, weight in model.state_dict().items():
        assert torch.equal(same[name], weight), name


def test_embeddings_of_a_file_are_kept(folder, tmp_path):
    """Though the rest of an RNN decoder is drawn after they are read."""
    path = tmp_path / "vectors.txt"
    path.write_text("1 16\nw5 " + " ".join(map(str, range(16))) + "\n", encoding="utf-8")
    model, task, _ = build(folder, "syntax_hybrid", f"--decoder-embed-path={path}")
    found = model.decoder.embed_tokens.weight[task.target_dictionary.index("w5")]
    assert found.tolist() == list(range(16))
    assert not model.decoder.embed_tokens.weight[task.target_dictionary.pad()].any()


@pytest.mark.parametrize(("arguments", "feature"), [
    (families(TRANSFORMER, RNN), "--decoder-family rnn"),
    (families(RNN, TRANSFORMER), "--encoder-family rnn"),
    ((*families(TRANSFORMER, TRANSFORMER), *METHODS["relation"]), "--relation-kernels 3:16"),
    ((*families(TRANSFORMER, TRANSFORMER), *METHODS["heads"]), None),
])  # fmt: skip
def test_what_is_no_plain_transformer_is_not_exported(folder, arguments, feature):
    model, _, cfg = build(folder, "syntax_hybrid_tiny", *arguments)
    assert feature_in_the_way(model, cfg.model) == feature


def test_who_has_an_option():
    """A mixed model refuses what it has no use for, so that somebody must say what is whose."""
    of_both = {o.name for o in fields(SyntaxTransformerOptions) if stacks_of(o.name) == STACKS}
    both = (
        "latent_",
        "syntactic_distance_",
        "position_bias",
        "dependency_scorer",
        "dependency_label",
        "tree_reg_share",
    )
    assert {name for name in of_both if not name.startswith(both)} == {"_name"}, (
        "declare these by encoder_option or decoder_option, or say here that they are for both"
    )
