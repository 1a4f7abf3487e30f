"""Which kernels attention takes on a GPU, on tensors that only say that they are on one."""

import logging

import pytest
import torch
import torch.nn.functional as F
from small_models import build, write_dictionaries
from torch._subclasses.fake_tensor import FakeTensorMode

from syntax_nmt.backbone import attention_kernels
from syntax_nmt.backbone.attention_kernels import AUTO, TORCH, avoids_cudnn, fused_attention
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention

HOPPER, AMPERE, BLACKWELL = (9, 0), (8, 0), (10, 0)


@pytest.fixture
def seen(monkeypatch):
    """Whether cuDNN's kernel was allowed, at each call of torch's function."""
    kernel, found = F.scaled_dot_product_attention, []

    def recording(*args, **kwargs):
        found.append(torch.backends.cuda.cudnn_sdp_enabled())
        return kernel(*args, **kwargs)

    monkeypatch.setattr(F, "scaled_dot_product_attention", recording)
    attention_kernels._avoids_cudnn_on.cache_clear()
    yield found
    attention_kernels._avoids_cudnn_on.cache_clear()


@pytest.fixture
def card(monkeypatch):
    """Sets the card that torch reports."""

    def put_in(capability):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)

    return put_in


def attend(kernels, device):
    with FakeTensorMode():
        x = torch.empty(2, 3, 5, 8, device=device)
        return fused_attention(x, x, x, kernels=kernels, scale=1.0)


@pytest.mark.parametrize(
    ("device_type", "capability", "kernels", "avoids"),
    [
        ("cuda", HOPPER, AUTO, True),
        ("cuda", BLACKWELL, AUTO, True),
        ("cuda", AMPERE, AUTO, False),  # torch itself takes others first
        ("cuda", HOPPER, TORCH, False),
        ("cpu", None, AUTO, False),
        ("meta", None, AUTO, False),
    ],
)
def test_choice(device_type, capability, kernels, avoids):
    assert avoids_cudnn(device_type, capability, kernels) is avoids


def test_only_our_calls_are_without_cudnn(seen, card, caplog):
    """What torch does elsewhere in the process stays as the user has it, and as they left it."""
    card(HOPPER)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            attend(AUTO, "cuda")
            assert torch.backends.cuda.cudnn_sdp_enabled()
    assert seen == [False] * 3
    assert [each.message.count("--attention-kernels torch") for each in caplog.records] == [1]
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        attend(AUTO, "cuda")
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


def test_is_given_back_after_an_error(card):
    card(HOPPER)
    with FakeTensorMode():
        x = torch.empty(2, 3, 5, 8, device="cuda")
        with pytest.raises(RuntimeError):
            fused_attention(x, x[..., :4], x, kernels=AUTO, scale=1.0)
    assert torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize(
    ("kernels", "device", "capability"),
    [(TORCH, "cuda", HOPPER), (AUTO, "cuda", AMPERE), (AUTO, "cpu", None)],
)
def test_torch_chooses(seen, card, caplog, kernels, device, capability):
    card(capability)
    with caplog.at_level(logging.INFO):
        attend(kernels, device)
    assert seen == [True]
    assert not caplog.records


@pytest.mark.parametrize("arch", ["phrase_transformer", "latent_phrase_transformer"])
def test_every_attention_of_a_model_has_the_option(tmp_path, arch):
    folder = write_dictionaries(tmp_path, pieces=True)
    for options, expected in (((), AUTO), (("--attention-kernels", "torch"), TORCH)):
        model, _, _ = build(folder, arch, *options)
        found = [x.kernels for x in model.modules() if isinstance(x, FusedMultiheadAttention)]
        assert len(found) > 4
        assert set(found) == {expected}
