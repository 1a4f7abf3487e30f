"""Every parameter takes part in every update of the method's own loss, and all stays finite."""

import pytest
import torch
from small_models import random_sentences
from small_training import criterion_of


def loss_of(small, lengths, synchronous="rank"):
    sample = small.batch(random_sentences(lengths), random_sentences(lengths, 9))
    return criterion_of(small.model, small.task, synchronous)(small.model, sample)[0]


def test_every_parameter_has_a_gradient(small):
    for lengths in ([5, 9], [2], [1]):
        small.model.train().zero_grad()
        loss_of(small, lengths).backward()
        without = [name for name, p in small.model.named_parameters() if p.grad is None]
        assert not without, (
            f"parameters without a gradient in a batch of lengths {lengths}: training on several "
            "GPUs would stop there. Leave out what is not used, or let it take part with zeros: "
            f"{', '.join(without)}"
        )


def test_autocast_stays_finite(small):
    small.model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(small, [9, 4, 1])
    loss.backward()
    assert torch.isfinite(loss)
    for name, parameter in small.model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


def test_checkpointed_activations_change_nothing(small, build_small):
    if not any(hasattr(half, "layers") for half in (small.model.encoder, small.model.decoder)):
        pytest.skip("no layers of a Transformer")
    results = []
    for each in (small, build_small(small.arch, "--checkpoint-activations")):
        each.model.train().zero_grad()
        loss_of(each, [9, 4], "attention").backward()
        results.append([parameter.grad for parameter in each.model.parameters()])
    for (name, _), plain, checkpointed in zip(small.model.named_parameters(), *results):
        torch.testing.assert_close(checkpointed, plain, atol=1e-4, rtol=1e-4, msg=name)
