"""The loss of an output layer, block by block, against loops, fairseq's own and half precision."""

import math

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from torch import nn

from syntax_nmt.backbone import linear_cross_entropy
from syntax_nmt.backbone.block_size import BlockSize
from syntax_nmt.backbone.linear_cross_entropy import LinearCrossEntropy

PAD, EPSILON, WORDS, WIDTH = 1, 0.1, 13, 5
TARGET = torch.tensor([[4, 5, 12, 2, 1, 1], [7, 2, 1, 1, 1, 1], [9, 9, 0, 3, 6, 2]])


def problem(dtype=torch.float64, bias=True):
    generator = torch.Generator().manual_seed(5)
    features = torch.randn(*TARGET.shape, WIDTH, generator=generator, dtype=torch.float64)
    projection = nn.Linear(WIDTH, WORDS, bias=bias)
    with torch.no_grad():
        for parameter in projection.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return features.to(dtype).requires_grad_(), projection.to(dtype)


def loops(features, projection):
    """The definition, number by number."""
    loss = nll = 0.0
    spread = EPSILON / (WORDS - 1)
    for row, targets in zip(features.tolist(), TARGET.tolist()):
        for x, y in zip(row, targets):
            if y == PAD:
                continue
            logits = [
                sum(w * a for w, a in zip(weights, x)) + b
                for weights, b in zip(projection.weight.tolist(), projection.bias.tolist())
            ]
            log_z = math.log(sum(math.exp(logit) for logit in logits))
            surprisals = [log_z - logit for logit in logits]
            nll += surprisals[y]
            loss += (1 - EPSILON - spread) * surprisals[y] + spread * sum(surprisals)
    return loss, nll


def stock(features, projection, epsilon=EPSILON):
    log_p = torch.log_softmax(projection(features).flatten(0, 1), dim=-1)
    return label_smoothed_nll_loss(log_p, TARGET.flatten(), epsilon, ignore_index=PAD)


def gradients(loss, features, projection):
    return torch.autograd.grad(loss, [features, *projection.parameters()])


@pytest.fixture(params=[1, 40, 2**22], ids=["one row", "some rows", "all rows"])
def block(request, monkeypatch):
    """How much a block holds."""
    monkeypatch.setattr(linear_cross_entropy, "_BLOCK", BlockSize(request.param, request.param))


def test_equals_the_definition(block):
    features, projection = problem()
    got = LinearCrossEntropy(TARGET, EPSILON, PAD)(features, projection)
    assert [each.item() for each in got] == pytest.approx(loops(features, projection), rel=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, EPSILON])
def test_equals_fairseqs(block, bias, epsilon):
    features, projection = problem(bias=bias)
    loss, nll = LinearCrossEntropy(TARGET, epsilon, PAD)(features, projection)
    wanted, wanted_nll = stock(features, projection, epsilon)
    torch.testing.assert_close(loss, wanted, rtol=1e-12, atol=0)
    torch.testing.assert_close(nll, wanted_nll, rtol=1e-12, atol=0)
    for got, want in zip(
        gradients(3 * loss, features, projection), gradients(3 * wanted, features, projection)
    ):
        torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 3e-3), (torch.bfloat16, 2e-2)])
def test_half_precision(dtype, tolerance):
    """Sums are taken in float32, and float16 is left to autograd and the trainer's scale."""
    features, projection = problem(dtype)
    loss, _ = LinearCrossEntropy(TARGET, EPSILON, PAD)(features, projection)
    assert loss.dtype == torch.float32
    exact, exact_projection = problem()
    wanted, _ = stock(exact, exact_projection)
    torch.testing.assert_close(loss.double(), wanted, rtol=tolerance, atol=0)
    scale = 2.0**10  # as a trainer scales its loss
    for got, want in zip(
        gradients(scale * loss, features, projection), gradients(wanted, exact, exact_projection)
    ):
        assert got.dtype == dtype
        error = (got.double() / scale - want).abs().max() / want.abs().max()
        assert error < tolerance


def test_small_probabilities_reach_float16():
    """A word's gradient of 1e-8 is far below the smallest number of float16."""
    features = torch.ones(1, 1, 1, dtype=torch.float16, requires_grad=True)
    projection = nn.Linear(1, 3, bias=False)
    with torch.no_grad():
        projection.weight.copy_(torch.tensor([[18.5], [0.0], [0.0]]))
    loss = LinearCrossEntropy(torch.tensor([[0]]), 0.0, PAD)(features, projection.half())[0]
    (of_weight,) = torch.autograd.grad(2.0**12 * loss, projection.weight)
    assert of_weight[1].item() / 2.0**12 == pytest.approx(math.exp(-18.5), rel=0.05)


def test_frequent_words_do_not_overflow_float16():
    """Their gradients point the same way in every token: a fixed scale would be too large."""
    features = torch.full((1, 4000, 1), 0.5, dtype=torch.float16, requires_grad=True)
    projection = nn.Linear(1, 3, bias=False).half()
    target = torch.full((1, 4000), 2)
    loss, _ = LinearCrossEntropy(target, EPSILON, PAD)(features, projection)
    (of_weight,) = torch.autograd.grad(loss, projection.weight)
    exact = projection.weight.detach().double().requires_grad_()
    log_p = torch.log_softmax(features.detach().double() @ exact.t(), dim=-1)
    wanted, _ = label_smoothed_nll_loss(log_p.flatten(0, 1), target.flatten(), EPSILON)
    (want,) = torch.autograd.grad(wanted, exact)
    torch.testing.assert_close(of_weight.double(), want, rtol=3e-3, atol=3e-3 * want.abs().max())


def test_autocast():
    features, projection = problem(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss, _ = LinearCrossEntropy(TARGET, EPSILON, PAD)(features, projection)
    found = gradients(loss, features, projection)
    assert [each.dtype for each in found] == [torch.float32] * 3
    torch.testing.assert_close(loss, stock(features, projection)[0], rtol=2e-2, atol=0)


def test_nothing_but_pads():
    features, projection = problem()
    target = torch.full_like(TARGET, PAD)
    loss, nll = LinearCrossEntropy(target, EPSILON, PAD)(features, projection)
    assert loss.item() == nll.item() == 0
    assert all(not each.any() for each in gradients(loss, features, projection))


def test_the_loss_may_be_changed_in_place():
    """As fairseq multiplies that of a worker without a batch by 0."""
    features, projection = problem()
    loss, _ = LinearCrossEntropy(TARGET, EPSILON, PAD)(features, projection)
    loss *= 0
    assert all(not gradient.any() for gradient in gradients(loss, features, projection))


def test_without_gradients():
    features, projection = problem()
    with torch.no_grad():
        loss, _ = LinearCrossEntropy(TARGET, EPSILON, PAD)(features, projection)
    assert not loss.requires_grad
    torch.testing.assert_close(loss, stock(features, projection)[0])
