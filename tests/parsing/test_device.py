"""Devices: which texts name one, and what is said where there is none of that name."""

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.offline import check_device, is_device


@pytest.mark.parametrize(
    "device", ["foo", "", "cuda:", "cuda:x", "cuda:-1", "CPU", "cuda:0 ", "mps"]
)
def test_what_is_no_device(device):
    assert not is_device(device)
    with pytest.raises(UserError, match=f"^--device {device}: no such device; give cpu, cuda or"):
        check_device(device, "--device")


@pytest.mark.parametrize(
    ("gpus", "device", "said"),
    [
        (0, "cpu", None),
        (0, "cuda", "no GPU"),
        (1, "cuda:0", None),
        (1, "cuda:1", "one GPU"),
        (2, "cuda:2", "2 GPUs"),
    ],
)
def test_gpus_that_are_there_and_not(monkeypatch, gpus, device, said):
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpus > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    assert is_device(device)
    if said is None:
        check_device(device, "--device")
    else:
        with pytest.raises(UserError, match=f"^a.json: device {device}: torch sees {said}.* cpu$"):
            check_device(device, "a.json: device")
