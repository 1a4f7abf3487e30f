"""The relation network layer equals loops over the paper's equations and ignores pads."""

import pytest
import torch
from relation_loops import relation_network

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.methods.relation_network.propagation import GraphPropagation

C, H = 5, 7
KERNELS = [(1, 4), (3, 6)]
SIZES = [4, 1, 6, 4, 2]
FORMS = [(False, False), (False, True), (True, False), (True, True)]


def layer_of(parallel=False, norm_first=False, kernels=KERNELS, **memory):
    """A layer in float64 whose norms are not the identity."""
    layer = RelationNetworkLayer(C, kernels, H, parallel, norm_first, **memory).double()
    for name, tensor in [*layer.named_parameters(), *layer.named_buffers()]:
        if "norm" in name:
            torch.nn.init.uniform_(tensor, 0.5, 2.0)
    return layer


def sentences_of(sizes=SIZES):
    return [torch.randn(size, C, dtype=torch.float64) for size in sizes]


def padded(sentences, left=False, width=6, pad=1e3):
    """B×S×C and padding, with numbers in place of pads that would show."""
    x = torch.full((len(sentences), width, C), pad, dtype=torch.float64)
    padding = torch.ones(len(sentences), width, dtype=torch.bool)
    for row, sentence in enumerate(sentences):
        place = slice(width - len(sentence), width) if left else slice(0, len(sentence))
        x[row, place] = sentence
        padding[row, place] = False
    return x.requires_grad_(), padding


def gradients(layer, loss, inputs):
    names = [name for name, _ in layer.named_parameters()]
    grads = torch.autograd.grad(loss, [*layer.parameters(), *inputs])
    return dict(zip(names, grads)), grads[len(names) :]


def equal(actual, expected, name=None):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10, msg=name)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("parallel", "norm_first"), FORMS)
def test_equations(parallel, norm_first, training, left):
    """Values and all gradients, whatever stands where the pads are."""
    layer = layer_of(parallel, norm_first).train(training)
    sentences = [sentence.requires_grad_() for sentence in sentences_of()]
    expected = relation_network(layer, sentences)
    x, padding = padded([sentence.detach() for sentence in sentences], left, 8, float("nan"))
    actual = layer(x, PackedRows(padding))
    weight = torch.randn_like(actual)
    equal(actual[~padding], torch.cat(expected))
    assert not actual[padding].any()
    ours, (of_x,) = gradients(layer, (actual * weight).sum(), [x])
    loss = (torch.cat(expected) * weight[~padding]).sum()
    theirs, of_sentences = gradients(layer, loss, sentences)
    for name, gradient in theirs.items():
        equal(ours[name], gradient, name)
    equal(of_x[~padding], torch.cat(of_sentences))
    assert not of_x[padding].any()


@pytest.mark.parametrize("kernels", [[(3, 4)], [(2, 4)], [(5, 3), (9, 4), (1, 2)]])
def test_other_kernels(kernels):
    """Wider than most sentences and of even width, too."""
    layer = layer_of(kernels=kernels).eval()
    sentences = sentences_of()
    x, padding = padded(sentences)
    equal(layer(x, PackedRows(padding))[~padding], torch.cat(relation_network(layer, sentences)))


@pytest.mark.parametrize("kept_pairs", [0, 20, 10**6])
@pytest.mark.parametrize("block", [1, 2, 5, 16, 33, 1000])
@pytest.mark.parametrize("padded_pairs", [False, True], ids=["as on a CPU", "as on a GPU"])
def test_blocks(block, kept_pairs, padded_pairs, monkeypatch):
    """However the pairs are cut, kept, padded or computed again, nothing changes."""
    layer = layer_of(block=10**6, kept_pairs=10**6)
    x, padding = padded(sentences_of())
    output = layer(x, PackedRows(padding))
    weight = torch.randn_like(output)
    expected, (of_x,) = gradients(layer, (output * weight).sum(), [x])
    layer.graph_propagation.block = block
    layer.graph_propagation.kept_pairs = kept_pairs
    monkeypatch.setattr(layer.graph_propagation, "pads_on", lambda device: padded_pairs)
    again = layer(x, PackedRows(padding))
    equal(again, output)
    actual, (also,) = gradients(layer, (again * weight).sum(), [x])
    for name, gradient in expected.items():
        equal(actual[name], gradient, name)
    equal(also, of_x)


@pytest.mark.parametrize("training", [True, False])
def test_one_word(training):
    """A batch of one sentence of one word."""
    layer = layer_of().train(training)
    x, padding = padded(sentences_of([1]), width=3)
    output = layer(x, PackedRows(padding))
    output.sum().backward()
    assert torch.isfinite(output).all()
    assert torch.isfinite(x.grad).all()
    assert all(torch.isfinite(buffer).all() for buffer in layer.buffers())


@pytest.mark.parametrize("training", [True, False])
def test_pads_alone(training):
    """A row of nothing but pads, and a batch of such rows."""
    layer = layer_of().train(training)
    x, padding = padded(sentences_of([3, 1]))
    padding[1] = True
    assert not layer(x, PackedRows(padding))[1].any()
    assert not layer(x, PackedRows(torch.ones_like(padding))).any()
    assert all(torch.isfinite(buffer).all() for buffer in layer.buffers())


@pytest.mark.parametrize("kept_pairs", [0, 10**6])
def test_mixed_precision(kept_pairs):
    """Under bfloat16 autocast everything is finite and near float32; norms stay in float32."""
    layer = layer_of(kept_pairs=kept_pairs).float()
    x, padding = padded(sentences_of())
    x = x.detach().float().requires_grad_()
    expected = layer(x, PackedRows(padding))
    with torch.autocast("cpu", torch.bfloat16):
        output = layer(x, PackedRows(padding))
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output.float(), expected, atol=0.05, rtol=0.05)
    output.float().square().sum().backward()
    for name, parameter in layer.named_parameters():
        assert parameter.grad.dtype == torch.float32, name
        assert torch.isfinite(parameter.grad).all(), name
    assert torch.isfinite(x.grad).all()


def kept_numbers(words, kept_pairs):
    """Numbers that the backward pass of one sentence finds kept, each storage counted once."""
    module = GraphPropagation(8, 8, block=100, kept_pairs=kept_pairs)
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 4
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        rows = PackedRows(torch.zeros(1, words, dtype=torch.bool))
        module(torch.randn(words, 8, requires_grad=True), rows).sum()
    return sum(kept.values())


def test_what_is_kept_does_not_grow_with_the_square():
    """Computed again: with the words; kept: four layers of every pair."""
    assert kept_numbers(200, 0) < 2.2 * kept_numbers(100, 0)
    assert kept_numbers(200, 0) < 200**2
    assert kept_numbers(100, 10**6) > 4 * 8 * 100**2
    some = kept_numbers(200, 10_000)
    assert 4 * 8 * 9_000 < some < 4 * 8 * 11_000 + kept_numbers(200, 0)
