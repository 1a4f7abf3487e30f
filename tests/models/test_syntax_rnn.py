"""The RNN family against the equations, and what its options do."""

from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf
from rnn_loops import translate
from small_models import assert_same_gradients, batch, build, enlarge, random_sentences
from torch import nn

from syntax_nmt.backbone.masked_batch_norm import MaskedBatchNorm
from syntax_nmt.errors import UserError
from syntax_nmt.models.options import SyntaxRNNOptions
from syntax_nmt.models.rnn_parts import build_encoder
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel

RELATION = ["--relation-kernels=1:6,3:8", "--relation-hidden-dim=10"]
RELATION += ["--conditional-gru"]
# The systems of the papers and their variants, as options of rnn_search.
ROWS = {
    "rnnsearch": [],
    "rnnsearch*": ["--conditional-gru"],
    "rnnsearch-maxout": ["--readout=maxout"],
    "two-layers-tanh": ["--conditional-gru", "--decoder-layers=2", "--readout=tanh"],
    "three-layers": ["--decoder-layers=3"],
    "own-widths": [
        *("--encoder-embed-dim=10", "--encoder-hidden-size=7", "--decoder-embed-dim=9"),
        *("--decoder-hidden-size=11", "--attention-dim=5", "--decoder-out-embed-dim=13"),
        "--conditional-gru",
    ],
    "shared": ["--conditional-gru", "--share-all-embeddings"],
    "tied": ["--share-decoder-input-output-embed"],
    "rnmt": RELATION,
    "rnmt-top": [*RELATION, "--relation-placement=top"],
    "rnmt-top-own-widths": [*RELATION, "--relation-placement=top", "--encoder-hidden-size=7"],
    "stacked": ["--encoder-gru=stacked", "--encoder-hidden-size=11"],
    "dense": ["--encoder-gru=dense"],
    "dense-embedding": ["--encoder-gru=dense", "--relation-dense-embedding"],
    "rnmt-released": [
        *(*RELATION, "--relation-parallel-convolutions", "--relation-dense-embedding"),
        *("--relation-norm-before-activation", "--readout=maxout"),
        "--share-decoder-input-output-embed",
    ],
}


def model_of(folder, row, *more):
    model, task, _ = build(folder, "rnn_search", *ROWS[row], *more)
    with torch.no_grad():
        for module in model.modules():  # averages of a trained model
            if isinstance(module, MaskedBatchNorm):
                module.running_mean.normal_()
                module.running_var.uniform_(0.5, 2)
                module.bias.normal_()
    return enlarge(model), task


def sample_for(task, **options):
    sources, targets = random_sentences([6, 3, 8, 1]), random_sentences([4, 6, 3, 5], 4)
    return batch(task.source_dictionary, sources, targets, **options)


@pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("row", ROWS)
def test_equals_the_equations(folder, row, left_pad):
    """The whole model and its gradients, one sentence at a time, from the equations as loops."""
    model, task = model_of(folder, row)
    model.double()
    inputs = sample_for(task, left_pad_source=left_pad)["net_input"]
    logits, extra = model(**inputs)
    pad, ours, theirs = task.source_dictionary.pad(), 0.0, 0.0
    for number, source in enumerate(inputs["src_tokens"]):
        target = inputs["prev_output_tokens"][number]
        words, target = source.ne(pad), target[target.ne(pad)]
        expected, weights = translate(model, source[words], target)
        found = logits[number, : len(target)]
        torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
        attended = extra["attn"][0][number, : len(target)]
        torch.testing.assert_close(attended[:, words], weights, atol=1e-10, rtol=0)
        assert not attended[:, ~words].any()
        ours = ours + found.pow(2).sum() + attended.pow(3).sum()
        theirs = theirs + expected.pow(2).sum() + weights.pow(3).sum()
    assert_same_gradients(model, ours, theirs)


@pytest.mark.parametrize("beam", [1, 3])
@torch.no_grad()
def test_keys_are_projected_once_a_sentence(folder, beam):
    """Whatever the number of steps, and one row a sentence, not a hypothesis."""
    model, task = model_of(folder, "rnnsearch*")
    projected, steps = [], []
    for module in (
        model.decoder.recurrence.attention.key_projection,
        model.decoder.recurrence.context_projection,
    ):
        module.register_forward_hook(lambda module, args, out: projected.append(len(args[0])))
    model.decoder.readout.register_forward_hook(lambda *_: steps.append(1))
    generator = task.build_generator([model], Namespace(beam=beam, max_len_b=9, min_len=6))
    task.inference_step(generator, [model], sample_for(task))
    assert projected == [4, 4]
    assert len(steps) > 5


@pytest.mark.parametrize("readout", ["linear", "maxout", "tanh"])
def test_dropout_acts_before_the_output_layer(folder, readout):
    model, task = model_of(folder, "rnnsearch*", f"--readout={readout}", "--dropout=0.5")
    seen = []
    model.decoder.output_projection.register_forward_pre_hook(lambda _, x: seen.append(x[0]))
    inputs = sample_for(task)["net_input"]
    model(**inputs)
    model.train()(**inputs)
    whole, dropped = seen
    zero = dropped == 0
    assert 0.3 < zero.float().mean() < 0.7
    torch.testing.assert_close(dropped[~zero], 2 * whole[~zero])


def test_parameters_begin_as_in_the_paper(folder):
    model, task, _ = build(folder, "relation_rnn")
    pad = task.source_dictionary.pad()
    norms = [m for m in model.modules() if isinstance(m, MaskedBatchNorm)]
    assert len(norms) == 4
    for norm in norms:
        assert (norm.weight == 1).all()
        assert (norm.bias == 0).all()
    of_norms = {id(p) for norm in norms for p in norm.parameters()}
    for name, parameter in model.named_parameters():
        if id(parameter) in of_norms:
            continue
        assert parameter.abs().max() <= 0.1, name
        if parameter.numel() > 1000:
            assert parameter.abs().max() > 0.099, name
            assert abs(float(parameter.std()) - 0.2 / 12**0.5) < 0.004, name
    for half in (model.encoder, model.decoder):
        assert not half.embed_tokens.weight[pad].any()


# Matrices of states by the ends of their names, and how many stand in each.
OF_STATES = {
    "hidden_projection.weight": 3,
    "query_projection.weight": 3,
    "coverage.hidden.weight": 3,
    "tree_down.hidden.weight": 6,
    "tree_up.merge.left.weight": 6,
    "tree_up.merge.right.weight": 6,
    "tree_start.left.weight": 6,
    "tree_start.right.weight": 6,
}


@pytest.mark.parametrize(
    "arch", ["rnn_search", "relation_rnn", "bi_scale_rnn", "tree2seq_rnn", "tree_coverage_rnn"]
)
def test_orthogonal_start(folder, arch):
    """Each gate's own matrix of states, by name; everything else normal, biases 0."""
    model, task, _ = build(folder, arch, "--initialization=orthogonal", "--decoder-layers=2")
    found = {}
    for name, parameter in model.named_parameters():
        module, _, kind = name.rpartition(".")
        if isinstance(model.get_submodule(module), MaskedBatchNorm):
            expected = torch.ones if kind == "weight" else torch.zeros
            assert torch.equal(parameter, expected(parameter.shape)), name
        elif kind.startswith("bias"):
            assert not parameter.any(), name
        elif "weight_hh" in name or name.endswith(tuple(OF_STATES)):
            count = next((n for end, n in OF_STATES.items() if name.endswith(end)), 3)
            width = parameter.size(1)
            found[name] = [parameter[i * width : (i + 1) * width] for i in range(count)]
            others = parameter[count * width :]
            assert others.numel() == 0 or others.abs().max() < 0.06
        elif parameter.numel() > 200:
            assert 0.005 < float(parameter.std()) < 0.015, name
    assert len(found) >= 4
    for name, matrices in found.items():
        for matrix in matrices:
            assert torch.allclose(matrix @ matrix.t(), torch.eye(len(matrix)), atol=1e-5), name
        assert not torch.allclose(*matrices[:2])
    for half in (model.encoder, model.decoder):
        assert not half.embed_tokens.weight[task.source_dictionary.pad()].any()


def test_orthogonal_start_under_a_transformer(folder):
    """Of what stands on the recurrent encoder, too; embeddings begin as fairseq's."""
    model, _, _ = build(
        folder,
        "syntax_hybrid_tiny",
        *("--encoder-family=rnn", "--decoder-family=transformer", "--tree-encoder=bidirectional"),
        *("--source-features=subword", "--feature-merge=concat", "--feature-dims=4"),
        "--initialization=orthogonal",
    )
    found = dict(model.encoder.named_parameters())
    recurrent = [name for name in found if "weight_hh" in name or name.endswith(tuple(OF_STATES))]
    assert "tree_up.merge.left.weight" in recurrent
    for name in recurrent:
        for matrix in found[name].split(found[name].size(1)):
            assert torch.allclose(matrix @ matrix.t(), torch.eye(len(matrix)), atol=1e-5), name
    tables = [each for each in model.encoder.modules() if isinstance(each, nn.Embedding)]
    assert len(tables) == 2
    assert all(float(each.weight.std()) > 0.1 for each in tables)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, 3_151_872),
        ({"encoder_gru": "stacked"}, 3_151_872),
        ({"encoder_gru": "dense"}, 3_151_872 + 512 * 512 + 2 * 512 * 512 + 2 * 512),
        ({"relation_kernels": "3:96", "relation_hidden_dim": 128}, 6_384_448),
        # What the paper may mean by 4.1 M more than its baseline: 4.08 · 2²⁰ (README).
        (
            {
                "relation_kernels": "3:96",
                "relation_hidden_dim": 128,
                "relation_dense_embedding": True,
            },
            3_151_872 + 4_281_152,
        ),
    ],
)
def test_parameters_of_encoders_of_width_512(options, parameters):
    chosen = SyntaxRNNOptions(**options)
    dictionary = Dictionary()
    encoder = build_encoder(chosen, dictionary, nn.Embedding(len(dictionary), 512))
    assert sum(p.numel() for p in encoder.network.parameters()) == parameters


@pytest.mark.parametrize("size", ["", "_tiny", "_nist_zh_en", "_wmt_en_de"])
def test_presets(folder, size):
    assert ARCH_MODEL_REGISTRY["rnn_search" + size] is SyntaxRNNModel
    plain, _, _ = build(folder, f"rnn_search{size}")
    assert not hasattr(plain.decoder.recurrence, "hidden_projection")
    conditional, _, _ = build(folder, f"rnn_search_cgru{size}")
    assert hasattr(conditional.decoder.recurrence, "hidden_projection")
    relation, _, cfg = build(folder, f"relation_rnn{size}")
    assert hasattr(relation.decoder.recurrence, "hidden_projection")
    assert len(relation.encoder.network.relations) == 2
    expected = {"_wmt_en_de": "3:96", "_tiny": cfg.model.relation_kernels}
    assert cfg.model.relation_kernels == expected.get(size, "1:128,3:256")


def test_sizes_of_the_paper(folder):
    """Section 5.2, without the sizes that the helper of the tests sets."""
    _, task, _ = build(folder, "rnn_search")
    for arch, hidden in (("relation_rnn_nist_zh_en", 256), ("relation_rnn_wmt_en_de", 128)):
        args = Namespace(_name=arch, arch=arch)
        model = task.build_model(OmegaConf.create(vars(args)))
        assert model.encoder.embed_tokens.embedding_dim == 512
        assert model.decoder.recurrence.state_dim == 512
        assert model.encoder.output_dim == 512
        assert model.decoder.dropout.p == 0.5
        assert model.encoder.network.relations[0].hidden.in_features == hidden


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--relation-kernels=2:8"], "--relation-kernels 2:8: give WIDTH:CHANNELS"),
        (["--relation-kernels=3"], "--relation-kernels 3: give WIDTH:CHANNELS"),
        (["--relation-kernels=3:x"], "--relation-kernels 3:x: give WIDTH:CHANNELS"),
        (["--relation-placement=top"], "placement needs --relation-kernels"),
        (["--relation-hidden-dim=64"], "--relation-hidden-dim needs --relation-kernels"),
        (["--relation-parallel-convolutions"], "needs --relation-kernels"),
        (
            [*RELATION, "--encoder-gru=stacked"],
            "--encoder-gru stacked .* give --arch rnn_search_cgru",
        ),
        (["--encoder-gru=dense", "--encoder-hidden-size=8"], "--encoder-gru dense adds the"),
        (["--relation-dense-embedding"], "needs --relation-kernels"),
        (["--relation-kept-pairs=9"], "--relation-kept-pairs needs --relation-kernels"),
        ([*RELATION, "--encoder-hidden-size=8"], "is 16 and --encoder-hidden-size 8"),
        ([*RELATION, "--relation-placement=top", "--relation-dense-embedding"], "interleaved"),
        (["--encoder-dropout-in=1"], "--encoder-dropout-in 1"),
        (["--decoder-layers=0"], "--decoder-layers 0: give a number from 1 on"),
        (["--decoder-hidden-size=-1"], "--decoder-hidden-size -1: give a number from 1 on"),
        (["--attention-dim=-3"], "--attention-dim -3"),
        ([*RELATION, "--relation-hidden-dim=0"], "--relation-hidden-dim 0"),
        ([*RELATION, "--relation-block=-5"], "--relation-block -5"),
        ([*RELATION, "--relation-kept-pairs=-1"], "--relation-kept-pairs -1: give a number from 0"),
        (["--share-all-embeddings", "--decoder-embed-dim=8"], "16 and --decoder-embed-dim 8"),
        (
            ["--share-decoder-input-output-embed", "--decoder-out-embed-dim=8"],
            "16 and --decoder-out-embed-dim 8",
        ),
        (["--encoder-embed-path=nowhere.txt"], "nowhere.txt: no such file"),
        (["--left-pad-target"], "--left-pad-target: a recurrent decoder would read the pads"),
    ],
)
def test_contradicting_options(folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(folder, "rnn_search", *arguments)


def test_options_about_kept_pairs_reach_both_layers(folder):
    model, _ = model_of(folder, "rnmt", "--relation-kept-pairs=0", "--relation-block=5")
    layers = [layer.graph_propagation for layer in model.encoder.network.relations]
    assert [(layer.kept_pairs, layer.block) for layer in layers] == [(0, 5)] * 2


def test_hydra_options(folder):
    """`fairseq-hydra-train` hands over what its YAML says, unchecked."""
    _, task, _ = build(folder, "rnn_search_tiny")
    name = {"_name": "rnn_search_tiny"}
    model = task.build_model(OmegaConf.create({**name, "readout": "maxout"}))
    assert model.decoder.readout.kind == "maxout"
    for option, value, advice in (
        ("readout", "median", "choose"),
        ("relation_placement", "below", "choose"),
        ("relation_kernels", 212, "give WIDTH:CHANNELS"),  # 3:32, as YAML reads it
        ("dropout", 1.5, "give a share"),
    ):
        with pytest.raises(UserError, match=f"{value}: {advice} "):
            task.build_model(OmegaConf.create({**name, option: value}))


def test_pretrained_embeddings(folder, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 4\nw3 1 2 3 4\nw5\t5\t6\t7\t8\n", encoding="utf-8")
    widths = ("--encoder-embed-dim=4", "--decoder-embed-dim=4")
    model, task, _ = build(
        folder, "rnn_search", *widths, f"--encoder-embed-path={path}", "--encoder-freeze-embed"
    )
    index = task.source_dictionary.index("w5")
    assert model.encoder.embed_tokens.weight[index].tolist() == [5, 6, 7, 8]
    assert not model.encoder.embed_tokens.weight.requires_grad
    assert model.decoder.embed_tokens.weight[index].abs().max() <= 0.1
    with pytest.raises(UserError, match=r"'w3' has 4 numbers, the embeddings have 16"):
        build(folder, "rnn_search", f"--decoder-embed-path={path}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("w3 1 2 3 4\nw5 5 6 7 8\n", "line 1: no header"),  # as GloVe writes them
        ("", "line 1: no header"),
        ("1 4\nw3 1 2 x 4\n", "line 2: could not convert string to float: 'x'"),
        ("1 4\nother 1 2 3 4\n", "no word of the dictionary is in it"),
        ("1 4\nother 1\nw3 1 2 3\n", "line 3: the vector of 'w3' has 3 numbers"),
        (b"1 4\n\xff 1 2 3 4\n", "cannot be read as UTF-8 text"),
        (
            "1 4\nw3 1 2 3 4\nw5 1 nan 3 4\n",
            "line 3: the vector of 'w5' has a number that is not fin",
        ),
        ("1 4\nw3 1 2 -1e39 4\n", "line 2: the vector of 'w3' has a number that is not finite"),
        (None, "cannot be read as UTF-8 text: .*no regular file"),
    ],
)
def test_damaged_embeddings(folder, tmp_path, content, message):
    path = tmp_path if content is None else tmp_path / "vectors.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=rf"--decoder-embed-path {path}: {message}"):
        build(folder, "rnn_search", "--decoder-embed-dim=4", f"--decoder-embed-path={path}")
