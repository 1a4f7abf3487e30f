"""The gradient of a matrix that a recurrence reads at every step is that of its definition."""

import gc
import weakref

import pytest
import torch
from torch import nn

from syntax_nmt.backbone.gru import gru_step
from syntax_nmt.backbone.repeated_product import JointProduct, RepeatedProduct, StepLinear, repeated

N, K, T = 3, 4, 5


def recurrence(layer, state):
    """States of all steps; the last product is not read."""
    states = []
    for _ in range(T):
        state = torch.tanh(layer(state))
        states.append(state)
    layer(state)
    return torch.stack(states)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(N, K), (2, N, K)], ids=["rows", "nested"])
def test_of_a_recurrence(bias, shape):
    layer, state = StepLinear(K, K, bias=bias).double(), torch.randn(shape).double()
    state.requires_grad_()
    weighted = torch.randn(T, *shape).double()
    found = []
    for within in (False, True):
        layer.zero_grad()
        state.grad = None
        if within:
            with repeated(layer):
                states = recurrence(layer, state)
        else:
            states = recurrence(layer, state)
        (states * weighted).sum().backward(retain_graph=True)
        once = [p.grad.clone() for p in (state, *layer.parameters())]
        (states * weighted).sum().backward()  # adds the same again
        for gradient, p in zip(once, (state, *layer.parameters())):
            torch.testing.assert_close(p.grad, 2 * gradient)
        found.append([states.detach(), *once])
    for plain, ours in zip(*found):
        torch.testing.assert_close(ours, plain)
    assert layer.uses is None


def test_of_a_matrix_a_sentence():
    matrix = torch.randn(2, K, 6).double().requires_grad_()
    inputs = [torch.randn(2, N, K).double() for _ in range(T)]
    found = []
    for product in (lambda x: torch.bmm(x, matrix), RepeatedProduct(matrix)):
        matrix.grad = None
        sum(product(x).square().sum() for x in inputs).backward()
        found.append(matrix.grad)
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("biases", [(False, False), (True, False), (True, True)])
def test_joint_products_are_those_of_each_layer(biases, long):
    """Also step by step (`long`), after a second backward pass, and without a gradient."""
    layers = [nn.Linear(K, 2 + n, bias=bias).double() for n, bias in enumerate(biases)]
    steps = [torch.randn(2, N, K).double() for _ in range(T)]
    weights = [torch.randn(2, N, 2 + n).double() for n in range(len(layers))]

    def loss(of):
        return sum(
            (each * weight).sum()
            for step, x in enumerate(steps, 1)
            for each, weight in zip(of(x), [step * w for w in weights])
        )

    parameters = [p for layer in layers for p in layer.parameters()]
    plain = torch.autograd.grad(loss(lambda x: [layer(x) for layer in layers]), parameters)
    joint = JointProduct(*layers, long=long)
    ours = loss(joint)
    for _ in range(2):
        for found, expected in zip(torch.autograd.grad(ours, parameters, retain_graph=True), plain):
            torch.testing.assert_close(found, expected)
    with torch.no_grad():
        for found, expected in zip(joint(steps[0]), JointProduct(*layers)(steps[0])):
            torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("long", [False, True])
def test_gradients_of_other_tensors_change_nothing(long):
    """A pass for the input's gradient alone visits the steps, and is not added to the next one."""
    matrix, state = (torch.randn(n, K).double().requires_grad_() for n in (K, N))
    product = RepeatedProduct(matrix, long=long)
    loss = product(product(state).tanh()).square().sum()
    expected = torch.autograd.grad(loss, (state, matrix), retain_graph=True)
    for _ in range(2):
        (of_state,) = torch.autograd.grad(loss, state, retain_graph=True)
        torch.testing.assert_close(of_state, expected[0])
    torch.testing.assert_close(torch.autograd.grad(loss, matrix, retain_graph=True)[0], expected[1])
    torch.autograd.grad(loss, state, create_graph=True)
    left = weakref.ref(product)
    del product, loss
    gc.collect()
    assert left() is None


def test_is_given_back_after_an_error():
    layer = StepLinear(K, K)
    with pytest.raises(RuntimeError), repeated(layer):
        layer(torch.zeros(N, K + 1))
    assert layer.uses is None


def test_frozen_and_unread_matrices():
    layer = StepLinear(K, K)
    layer.weight.requires_grad_(False)
    state = torch.randn(N, K, requires_grad=True)
    with repeated(layer):
        layer(state).sum().backward()
    assert state.grad is not None
    assert layer.weight.grad is None
    unread = StepLinear(K, K)
    with repeated(unread):
        pass
    assert unread.weight.grad is None


@pytest.mark.parametrize("autocast", [False, True])
def test_types(autocast):
    layer, state = StepLinear(K, K), torch.randn(N, K)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        plain = layer(state)
        with repeated(layer):
            ours = layer(state)
    assert ours.dtype == plain.dtype
    torch.testing.assert_close(ours, plain)
    ours.float().sum().backward()
    assert layer.weight.grad.dtype == torch.float32


def plain_step(inputs, hidden, state):
    """The equations of `gru_step`."""
    (i_r, i_z, i_n), (h_r, h_z, h_n) = inputs.chunk(3, dim=-1), hidden.chunk(3, dim=-1)
    r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
    return (1 - z) * torch.tanh(i_n + r * h_n) + z * state


def test_gru_step():
    given = [torch.randn(N, width).double().requires_grad_() for width in (3 * K, 3 * K, K)]
    torch.testing.assert_close(gru_step(*given), plain_step(*given))
    assert torch.autograd.gradcheck(gru_step, given)
    mixed = gru_step(given[0].half(), given[1].half(), given[2].float())
    assert mixed.dtype == torch.float32


def test_names_of_parameters_stay():
    assert StepLinear(K, K).state_dict().keys() == nn.Linear(K, K).state_dict().keys()
