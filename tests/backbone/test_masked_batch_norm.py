"""Batch norm over real positions equals torch's over the same words, on one worker and on two."""

import copy
import os

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from nonempty import some
from torch import nn

from syntax_nmt.backbone.masked_batch_norm import MaskedBatchNorm, ignored_batch
from syntax_nmt.backbone.packing import PackedRows

C = 3
PADDING = torch.tensor([[True, True, False, False], [False] * 4, [False, True, True, True]])
ROWS = PackedRows(PADDING)


def norm_of(channels=C):
    norm = MaskedBatchNorm(channels).double()
    for tensor in [*norm.parameters(), *norm.buffers()]:
        nn.init.uniform_(tensor, 0.5, 2.0)
    return norm


def stock_of(norm):
    """torch's own with the same numbers."""
    stock = nn.BatchNorm1d(norm.channels, norm.eps, norm.momentum).to(norm.weight.dtype)
    stock.load_state_dict({**norm.state_dict(), "num_batches_tracked": torch.tensor(0)})
    return stock.train(norm.training)


def batch(*shape, offset=0.0):
    return (torch.randn(*shape, C, dtype=torch.float64) * 2 + offset).requires_grad_()


def equal(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("training", [True, False])
def test_equals_torch(training):
    norm = norm_of().train(training)
    stock = stock_of(norm)
    x = batch(3, 4)
    with torch.no_grad():
        x[PADDING] = float("nan")
    words = x.detach()[~PADDING].requires_grad_()
    for _ in range(3):
        output, expected = norm(x, ROWS), stock(words)
        equal(output[~PADDING], expected)
        assert not output[PADDING].any()
    weight = torch.randn_like(output)
    (output * weight).sum().backward()
    (expected * weight[~PADDING]).sum().backward()
    equal(x.grad[~PADDING], words.grad)
    assert not x.grad[PADDING].any()
    equal(norm.weight.grad, stock.weight.grad)
    equal(norm.bias.grad, stock.bias.grad)
    equal(norm.running_mean, stock.running_mean)
    equal(norm.running_var, stock.running_var)


def test_one_position():
    """Its mean counts, a variance it has none."""
    norm = norm_of()
    before = norm.running_mean.clone(), norm.running_var.clone()
    x = batch(1, 4)
    padding = torch.tensor([[True, False, True, True]])
    output = norm(x, PackedRows(padding))
    equal(output[0, 1], norm.bias)
    output.sum().backward()
    assert torch.isfinite(x.grad).all()
    equal(norm.running_mean, 0.9 * before[0] + 0.1 * x[0, 1])
    equal(norm.running_var, before[1])


def test_far_from_zero():
    """Words far from 0 in float32: a mean of squares less a squared mean would lose them."""
    x = batch(3, 4, offset=1e4)
    norm = norm_of()
    expected = norm(x, ROWS)
    actual = copy.deepcopy(norm).float()(x.float(), ROWS)
    torch.testing.assert_close(actual.double(), expected, atol=5e-3, rtol=0)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("training", [True, False])
def test_half_precision(training, kind):
    """The averages stay in float32, and beyond the range of float16."""
    norm = norm_of().float()
    norm.running_var.fill_(1e6 + 1)
    norm = norm.to(kind).train(training)
    assert norm.weight.dtype == kind
    assert norm.running_var.dtype == torch.float32
    assert (norm.running_var == 1e6 + 1).all()
    x = batch(3, 4, offset=200.0).detach().to(kind).requires_grad_()
    words = x.detach().float()[~PADDING]
    expected = stock_of(copy.deepcopy(norm).float())(words)
    output = norm(x, ROWS)
    assert output.dtype == kind
    torch.testing.assert_close(output[~PADDING], expected.to(kind), atol=2e-2, rtol=2e-2)
    output.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_a_channel_that_overflows_leaves_the_averages_finite():
    """Training in float16 skips such an update and goes on."""
    norm, x = norm_of(), batch(3, 4).detach()
    before = copy.deepcopy(norm)
    clean = copy.deepcopy(norm)
    clean(x, ROWS)
    x[1, 2, 0] = torch.inf
    norm(x, ROWS)
    for name in ("running_mean", "running_var"):
        assert getattr(norm, name)[0] == getattr(before, name)[0]
        equal(getattr(norm, name)[1:], getattr(clean, name)[1:])


def test_ignored_batch():
    """Leaves the averages alone; they stand in for its own statistics if there are no others."""
    model = nn.ModuleDict({"a": norm_of(), "b": nn.ModuleList([norm_of()])})
    before = copy.deepcopy(model.state_dict())
    x = batch(3, 4)
    with ignored_batch(model):
        inner = model["a"](x, ROWS)
        output = model["b"][0](inner, ROWS)
    equal(inner, copy.deepcopy(model["a"]).eval()(x, ROWS))
    (output.sum() * 0).backward()
    assert not x.grad.any()
    for name, tensor in model.state_dict().items():
        equal(tensor, before[name])
    with ignored_batch(model, False):
        model["a"](x, ROWS)
    assert not torch.equal(model["a"].running_mean, before["a.running_mean"])


def test_ignored_only_while_it_lasts():
    norm = norm_of()
    with pytest.raises(ZeroDivisionError), ignored_batch(norm):
        raise ZeroDivisionError
    assert not norm.ignore_batch


def halves():
    """A batch and its loss weights, cut between two workers unevenly."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(3, 4, C, dtype=torch.float64, generator=generator) + 5
    weight = torch.randn(3, 4, C, dtype=torch.float64, generator=generator)
    parts = slice(0, 1), slice(1, 3)
    return [(x[part], PADDING[part], weight[part]) for part in parts]


def step(model, x, padding, weight, loss_weight=1.0):
    """One forward and backward pass: all that a worker ends up with."""
    x = x.clone().requires_grad_()
    output = model(x, PackedRows(padding))
    ((output * weight).sum() * loss_weight).backward()
    found = {"output": output.detach(), "x": x.grad, **copy.deepcopy(model.state_dict())}
    return {**found, **{f"{name}.grad": p.grad for name, p in model.named_parameters()}}


def worker(rank, store, folder):
    """What each of two workers does, all in one go as starting them takes longest."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(1)
    start = norm_of()
    found = {"start": copy.deepcopy(start.state_dict())}
    mine = halves()[rank]
    found["both"] = step(copy.deepcopy(start), *mine)
    second_is_dummy = copy.deepcopy(start)
    with ignored_batch(second_is_dummy, rank == 1):
        found["dummy"] = step(second_is_dummy, *mine, loss_weight=1.0 - rank)
    no_batch = copy.deepcopy(start)
    with ignored_batch(no_batch):
        found["none"] = step(no_batch, *mine, loss_weight=0.0)
    found["evaluation"] = step(copy.deepcopy(start).eval(), *mine)["output"]
    torch.save(found, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workers")
    # Not "fork": torch's threads of this process would be waited for in vain.
    mp.start_processes(worker, (str(folder / "store"), str(folder)), 2, start_method="forkserver")
    return [torch.load(folder / f"{rank}.pt") for rank in (0, 1)]


def loaded(found):
    norm = MaskedBatchNorm(C).double()
    norm.load_state_dict(found["start"])
    return norm


def test_two_workers_are_one(two_workers):
    """Statistics and gradients of the whole batch; those of weights add up."""
    norm = loaded(two_workers[0])
    whole = [torch.cat(parts) for parts in zip(*halves())]
    expected = step(norm, *whole)
    equal(torch.cat([found["both"]["output"] for found in two_workers]), expected["output"])
    equal(torch.cat([found["both"]["x"] for found in two_workers]), expected["x"])
    for found in two_workers:
        for name in ("running_mean", "running_var"):
            equal(found["both"][name], expected[name])
    for name in ("weight.grad", "bias.grad"):
        equal(sum(found["both"][name] for found in two_workers), expected[name])


def test_dummy_batch_of_one_worker(two_workers):
    """The other is as if it were alone, and both have the same averages."""
    expected = step(loaded(two_workers[0]), *halves()[0])
    for name, tensor in expected.items():
        equal(two_workers[0]["dummy"][name], tensor)
    dummy = two_workers[1]["dummy"]
    assert torch.isfinite(dummy["output"]).all()
    assert not dummy["x"].any()
    for name in ("running_mean", "running_var"):
        equal(dummy[name], expected[name])


def test_no_worker_has_a_batch(two_workers):
    for found in some(two_workers):
        assert torch.isfinite(found["none"]["output"]).all()
        for name in ("running_mean", "running_var"):
            equal(found["none"][name], found["start"][name])


def test_evaluation_does_not_ask_the_others(two_workers):
    for found, (x, padding, _) in zip(two_workers, halves()):
        expected = loaded(found).eval()(x, PackedRows(padding))
        equal(found["evaluation"], expected.detach())
