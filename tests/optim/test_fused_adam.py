"""`fused_adam` gives fairseq's `adam`'s numbers, reads its checkpoints and writes them."""

import pytest
import torch
from fairseq.optim import OPTIMIZER_REGISTRY
from fairseq.optim.adam import Adam, FairseqAdam
from torch import nn

from syntax_nmt.errors import UserError
from syntax_nmt.optim.fused_adam import FusedAdam, FusedAdamConfig, FusedFairseqAdam

SETTINGS = {"lr": 1e-2, "betas": (0.9, 0.98), "eps": 1e-4, "weight_decay": 0.01}


def parameters(dtype=torch.float64):
    generator = torch.Generator().manual_seed(2)
    return [nn.Parameter(torch.randn(size, generator=generator, dtype=dtype)) for size in (3, 7)]


def run(optimizer, steps, seed):
    """Gradients as small as ε, so that its place shows."""
    for step in range(steps):
        generator = torch.Generator().manual_seed(seed + step)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                shape, dtype = parameter.shape, parameter.dtype
                parameter.grad = 1e-4 * torch.randn(shape, generator=generator, dtype=dtype)
        optimizer.step()


def assert_same(some, others, tolerance=1e-12):
    for one, other in zip(some, others, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_same_numbers(dtype, tolerance):
    ours, theirs = parameters(dtype), parameters(dtype)
    run(FusedAdam(ours, **SETTINGS), 12, seed=0)
    run(Adam(theirs, **SETTINGS), 12, seed=0)
    assert_same(ours, theirs, tolerance)


@pytest.mark.parametrize(("first", "then"), [(Adam, FusedAdam), (FusedAdam, Adam)])
def test_each_goes_on_from_the_other(first, then, tmp_path):
    through, whole = parameters(), parameters()
    uninterrupted = Adam(whole, **SETTINGS)
    run(uninterrupted, 6, seed=0)
    run(uninterrupted, 6, seed=6)

    before = first(through, **SETTINGS)
    run(before, 6, seed=0)
    torch.save(before.state_dict(), tmp_path / "state.pt")
    after = then(through, **SETTINGS)
    after.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    run(after, 6, seed=6)
    assert_same(through, whole)


def test_state_is_fairseqs():
    states = []
    for kind in (FusedAdam, Adam):
        optimizer = kind(parameters(), **SETTINGS)
        run(optimizer, 3, seed=0)
        states.append(optimizer.state_dict())
    ours, theirs = states
    assert ours["param_groups"] == theirs["param_groups"]
    assert ours["state"].keys() == theirs["state"].keys()
    for index, state in theirs["state"].items():
        assert ours["state"][index].keys() == state.keys()
        assert ours["state"][index]["step"] == state["step"] == 3
        assert type(ours["state"][index]["step"]) is int


def config(**changes):
    return FusedAdamConfig(lr=[1e-3], adam_betas="(0.9, 0.98)", tpu=False, **changes)


def test_fairseq_knows_it():
    assert OPTIMIZER_REGISTRY["fused_adam"] is FusedFairseqAdam
    built = FusedFairseqAdam(config(), parameters())
    assert isinstance(built.optimizer, FusedAdam)
    assert built.supports_flat_params
    # What fairseq compares before it takes up the state of a checkpoint.
    assert type(built).__name__ == FairseqAdam.__name__


def test_half_precision_is_left_to_fairseq():
    assert isinstance(FusedFairseqAdam(config(), parameters(torch.float16)).optimizer, Adam)


@pytest.mark.parametrize("option", ["fp16_adam_stats", "use_old_adam"])
def test_what_it_does_not_do_is_refused(option):
    with pytest.raises(UserError, match=f"--{option.replace('_', '-')}: .* --optimizer adam"):
        FusedFairseqAdam(config(**{option: True}), parameters())
