"""Names of devices, and checks that this machine has them."""

from __future__ import annotations

import re

import torch

from syntax_nmt.errors import UserError

DEVICES = "cpu, cuda or cuda:N"
_DEVICE = re.compile(r"cpu|cuda(?::(?P<number>\d{1,4}))?", re.ASCII)


def is_device(device: str) -> bool:
    """Whether a text is `cpu`, `cuda` or `cuda:N`."""
    return _DEVICE.fullmatch(device) is not None


def check_device(device: str, name: str) -> None:
    """Refuses a device that this machine does not have.

    Args:
        name: the option, or file and key, that names the device.

    Raises:
        UserError: it is not one of :data:`DEVICES`, or torch sees no such GPU.
    """
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise UserError(f"{name} {device}: no such device; give {DEVICES}")
    if device == "cpu":
        return
    seen = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(match["number"] or 0) >= seen:
        gpus = {0: "no GPU", 1: "one GPU (cuda:0)"}.get(seen, f"{seen} GPUs (from cuda:0)")
        raise UserError(f"{name} {device}: torch sees {gpus} here; give another, or cpu")
