"""Graph convolution against loops over arcs, and what its options do."""

import pytest
import torch
from nonempty import some
from small_models import annotated_batch, build, enlarge, random_sentences, write_dictionaries
from torch.nn.functional import conv1d

from syntax_nmt.backbone.extension import Source
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.errors import UserError
from syntax_nmt.methods.column_labels import FULL, UNIVERSAL
from syntax_nmt.methods.graph_convolution.layer import Arcs, GraphConvolution
from syntax_nmt.methods.graph_convolution.layers import (
    AFTER,
    BEFORE,
    NO_NORM,
    GraphConvolutionLayers,
    RelationIds,
)
from syntax_nmt.methods.graph_convolution.options import DENSE, NONE, RESIDUAL

C, R = 6, 5
LENGTHS = (9, 4, 7, 2)


def random_arcs(sentences=3, length=8, seed=1):
    """Trees: each token hangs on an earlier one, some on none."""
    generator = torch.Generator().manual_seed(seed)
    heads = torch.arange(length).repeat(sentences, 1)
    for row in heads:
        for token in range(1, length):
            if torch.rand((), generator=generator) < 0.8:
                row[token] = torch.randint(token, (1,), generator=generator)
    order = torch.randperm(length, generator=generator)
    shuffled = torch.empty_like(heads)
    shuffled[:, order] = order[heads]
    labels = torch.randint(R, heads.shape, generator=generator)
    return Arcs(shuffled, labels, shuffled.ne(torch.arange(length)))


def strong(**options):
    """A layer in float64 whose parameters all matter."""
    torch.manual_seed(3)
    layer = GraphConvolution(C, R, **options).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_()
    return layer


def parts(layer, place):
    """W (C×C) and ŵ (C) of a direction, by its place; the loop is last."""
    ways, weight = len(layer.directions) + 1, layer.projection.weight
    gate = weight[ways * layer.width + place] if layer.gated else None
    return weight[place * layer.width : (place + 1) * layer.width], gate


def loops(layer, h, arcs, of_words=None):
    """The equation, arc by arc."""
    found = h.new_zeros(*h.shape[:2], layer.width)
    for row, states in enumerate(h):
        for v in range(len(states)):
            weight, gate = parts(layer, len(layer.directions))
            message = weight @ states[v] + layer.loop_bias
            if layer.gated:
                message = message * torch.sigmoid(gate @ states[v] + layer.loop_gate)
            total = message
            for place, direction in enumerate(layer.directions):
                weight, gate = parts(layer, place)
                senders = []
                for dependent in range(len(states)):
                    for each in (arcs, *([of_words] if direction == "out" and of_words else ())):
                        if not each.there[row, dependent]:
                            continue
                        head = int(each.heads[row, dependent])
                        sender, receiver = (
                            (dependent, head) if direction == "in" else (head, dependent)
                        )
                        if receiver == v:
                            senders.append((sender, int(each.labels[row, dependent])))
                for u, label in senders:
                    message = weight @ states[u] + layer.label_bias[place][label]
                    if layer.gated:
                        logit = gate @ states[u] + layer.label_gate[place][label]
                        message = message * torch.sigmoid(logit)
                    total = total + message
            found[row, v] = torch.relu(total)
    return found


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("arcs", ["both", "in", "out", "none"])
def test_equals_the_equation(arcs, gated):
    layer, graph = strong(arcs=arcs, gated=gated), random_arcs()
    words = random_arcs(seed=2)
    h = torch.randn(3, 8, C, dtype=torch.float64, requires_grad=True)
    for of_words in (None, words):
        found, expected = layer(h, graph, of_words), loops(layer, h, graph, of_words)
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-12)
        weights = torch.randn_like(found)
        used = [h, *(p for p in layer.parameters())]
        ours = torch.autograd.grad((found * weights).sum(), used)
        theirs = torch.autograd.grad((expected * weights).sum(), used, allow_unused=True)
        for x, y in zip(ours, theirs):
            torch.testing.assert_close(
                x, torch.zeros_like(x) if y is None else y, atol=1e-10, rtol=0
            )


@pytest.mark.parametrize("norm", [BEFORE, AFTER, NO_NORM])
@pytest.mark.parametrize("skip", [RESIDUAL, DENSE, NONE])
def test_stacked_layers_equal_loops(skip, norm):
    """h + G(N(h)), N(h + G(h)) or h + G(h); dense ones read all below, and add nothing."""
    ids = RelationIds(("<unk>", "acl", "nsubj", "_"), FULL)
    stack = GraphConvolutionLayers(C, 3, ids, "both", True, skip, 0.0, norm).double()
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.normal_()
    arcs = random_arcs(2, 5)
    states = [torch.randn(2, 5, C, dtype=torch.float64)]
    norms = stack.norms if norm != NO_NORM else [None] * 3
    for layer, normed in zip(stack.layers, norms, strict=True):
        read = torch.cat(states, dim=-1) if skip == DENSE else states[-1]
        messages = loops(layer, normed(read) if norm == BEFORE else read, arcs)
        out = states[-1] + messages if skip == RESIDUAL else messages
        states.append(normed(out) if norm == AFTER else out)
    torch.testing.assert_close(stack(states[0], arcs), states[-1], atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_many_messages_add_up_in_half_precision(dtype):
    """All words hang on one: a running sum of 16 bits would no longer grow, nor a gradient."""
    torch.manual_seed(1)
    layer = GraphConvolution(C, R, gated=False)
    heads = torch.zeros(1, 600, dtype=torch.long)
    arcs = Arcs(heads, torch.zeros_like(heads), heads.ne(torch.arange(600)))
    with torch.no_grad():
        layer.projection.weight.abs_()
    found = []
    for kind in (dtype, torch.float64):
        h = (1 + torch.rand(1, 600, C, generator=torch.Generator().manual_seed(2))).to(dtype)
        h = h.to(kind).requires_grad_()
        out = layer.to(kind)(h, arcs)
        out.sum().backward()
        found.append((out[0, 0].double(), h.grad[0, 0].double()))
    (sums, gradients), (expected, expected_gradients) = found
    assert expected.min() > 400
    rounding = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(sums, expected, rtol=rounding, atol=0)
    torch.testing.assert_close(gradients, expected_gradients, rtol=rounding, atol=0)


def test_a_chain_is_a_convolution_of_width_three():
    """Without gates and labels: the head is the left neighbour, the dependent the right one."""
    torch.manual_seed(3)
    layer = GraphConvolution(C, 1, gated=False).double()
    with torch.no_grad():
        for bias in layer.label_bias:
            bias.zero_()
    h = torch.randn(2, 7, C, dtype=torch.float64)
    heads = (torch.arange(7) - 1).clamp(min=0).expand(2, 7)
    arcs = Arcs(heads, torch.zeros_like(heads), heads.ne(torch.arange(7)))
    from_right, from_left, own = (parts(layer, place)[0] for place in range(3))
    kernel = torch.stack([from_left, own, from_right], dim=2)
    expected = torch.relu(conv1d(h.transpose(1, 2), kernel, padding=1)).transpose(1, 2)
    torch.testing.assert_close(layer(h, arcs), expected, atol=1e-12, rtol=0)


def test_permuted_labels_under_permuted_tables():
    layer, arcs = strong(), random_arcs()
    h, order = torch.randn(3, 8, C, dtype=torch.float64), torch.randperm(R)
    expected = layer(h, arcs)
    with torch.no_grad():
        for table in (*layer.label_bias, *layer.label_gate):
            table[order] = table.clone()
    found = layer(h, Arcs(arcs.heads, order[arcs.labels], arcs.there))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_layers_see_as_many_arcs_and_no_further(layers):
    length = 8
    heads = (torch.arange(length) - 1).clamp(min=0)[None]
    arcs = Arcs(heads, torch.zeros_like(heads), heads.ne(torch.arange(length)))
    h = torch.rand(1, length, C, dtype=torch.float64, requires_grad=True)
    states = h
    for seed in range(layers):
        torch.manual_seed(seed)
        layer = GraphConvolution(C, 1).double()
        with torch.no_grad():
            layer.projection.weight.abs_()  # so that no ReLU closes
        states = layer(states, arcs)
    (gradient,) = torch.autograd.grad(states[0, 4].sum(), h)
    seen = gradient[0].abs().sum(1).gt(0).nonzero().flatten().tolist()
    assert seen == [token for token in range(length) if abs(token - 4) <= layers]


def test_parameters():
    """3C² + 3C + C + 2R(C + 1) + 1."""
    layer = GraphConvolution(C, R)
    count = sum(parameter.numel() for parameter in layer.parameters())
    assert count == 3 * C * C + 3 * C + C + 2 * R * (C + 1) + 1


def test_edge_dropout_keeps_the_mean_of_gates():
    layer, arcs = GraphConvolution(C, R, edge_dropout=0.25).double(), random_arcs(400, 10)
    h = torch.randn(400, 10, C, dtype=torch.float64)
    kept, dropped = layer.eval().gates(h, arcs), layer.train().gates(h, arcs)
    for direction, gates in some(kept.items()):
        lost = dropped[direction][arcs.there].eq(0).double().mean()
        assert float(lost) == pytest.approx(0.25, abs=0.02)
        assert float(dropped[direction].mean()) == pytest.approx(float(gates.mean()), rel=0.05)


def test_relations_with_and_without_subtypes():
    relations = ("<unk>", "nsubj", "nsubj:pass", "obj", "_")
    full, universal = (RelationIds(relations, which) for which in (FULL, UNIVERSAL))
    given = torch.tensor([[-1, 1, 2, 3, 4, 5]])
    assert full(given).tolist() == [[0, 0, 1, 2, 3, 4]]
    assert universal(given).tolist() == [[0, 0, 1, 1, 2, 3]]
    assert (full.count, full.piece) == (6, 5)
    assert (universal.count, universal.piece) == (5, 4)
    assert RelationIds((), FULL).count == 1


@pytest.mark.parametrize("arch", ["gcn_rnn", "gcn_transformer"])
def test_arcs_of_inner_subwords(pieces_folder, arch):
    """They hang on the first one by a label of their own; a word's head may send to all."""
    model, task, _ = build(pieces_folder, arch, "--gcn-pieces=all")
    sources = random_sentences(LENGTHS)
    inputs = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4))["net_input"]
    tokens = inputs["src_tokens"]
    (extension,) = model.encoder.extensions
    pads = tokens.eq(task.source_dictionary.pad())
    arcs, of_words = extension.arcs(Source(tokens, pads, inputs, model.encoder.word_spans))
    spans = model.encoder.word_spans(tokens)
    columns = torch.arange(tokens.size(1)).expand_as(tokens)
    inner = spans.first.ne(columns) & ~pads
    parsed = inputs["heads"].ge(0)
    assert (inner & parsed).any()
    assert arcs.labels[inner].eq(extension.layers.relation_ids.piece).all()
    assert arcs.heads[inner & parsed].equal(spans.first[inner & parsed])
    assert not of_words.there[~inner].any()
    first = spans.first[inner & parsed]
    rows = (inner & parsed).nonzero()[:, 0]
    assert of_words.heads[inner & parsed].equal(arcs.heads[rows, first])
    assert not arcs.there[pads | tokens.eq(task.source_dictionary.eos())].any()


def test_the_whole_encoder(pieces_folder):
    """Two residual layers on GRUs, in float64, by the layers' own equations."""
    model, task, _ = build(pieces_folder, "gcn_rnn")
    enlarge(model).double()
    sources = random_sentences(LENGTHS)
    inputs = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4))["net_input"]
    tokens, (extension,) = inputs["src_tokens"], model.encoder.extensions
    pads = tokens.eq(task.source_dictionary.pad())
    arcs, _ = extension.arcs(Source(tokens, pads, inputs, model.encoder.word_spans))
    states = model.encoder.network(model.encoder.embed_tokens(tokens), pads)
    for layer in extension.layers.layers:
        states = states + loops(layer, states, arcs)
    found = model.encoder(tokens, **{k: inputs[k] for k in ("heads", DEPREL.key)})
    torch.testing.assert_close(found["encoder_out"][0].transpose(0, 1)[~pads], states[~pads])


@pytest.mark.parametrize(
    ("layers", "placement"),
    [
        (("--encoder-layers=0",), "bottom"),  # the paper's bag of words
        (("--encoder-layers=0",), "top"),
        (("--encoder-layers=2", "--encoder-layerdrop=0.99"), "bottom"),
    ],
    ids=["no layers, bottom", "no layers, top", "layer drop"],
)
def test_graphs_need_no_layer(pieces_folder, layers, placement):
    """They act on the embeddings with positions, also if there is no layer, or none is kept."""
    options = (*layers, f"--gcn-placement={placement}", "--gcn-edge-dropout=0")
    model, task, _ = build(pieces_folder, "gcn_transformer", *options)
    model.train()
    model.encoder.embed_tokens.weight.data *= 4
    sources = random_sentences(LENGTHS)
    inputs = annotated_batch(model, task, sources, random_sentences(LENGTHS, 4))["net_input"]
    tokens, (extension,) = inputs["src_tokens"], model.encoder.extensions
    pads = tokens.eq(task.source_dictionary.pad())
    embedded, _ = model.encoder.forward_embedding(tokens)
    expected = extension.layers(
        embedded, *extension.arcs(Source(tokens, pads, inputs, model.encoder.word_spans))
    )
    torch.manual_seed(1)  # drops both layers
    found = model.encoder(tokens, **{k: inputs[k] for k in ("heads", DEPREL.key)})
    torch.testing.assert_close(found["encoder_out"][0].transpose(0, 1)[~pads], expected[~pads])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gcn-layers=-1",), "give a number from 0 on"),
        (("--gcn-layers=0", "--gcn-no-gates"), "--gcn-no-gates needs --gcn-layers"),
        (("--gcn-edge-dropout=1",), "give a share from 0 to less than 1"),
    ],
)
def test_contradicting_options(pieces_folder, arguments, message):
    with pytest.raises(UserError, match=message):
        build(pieces_folder, "gcn_transformer", *arguments)


def test_data_without_relations(tmp_path):
    folder = write_dictionaries(tmp_path)
    (folder / DEPREL.labels_file).unlink()
    with pytest.raises(UserError, match=r"the data folder has no dict.deprel.txt: make it with"):
        build(folder, "gcn_transformer")
    build(folder, "gcn_transformer", "--gcn-labels=none")
