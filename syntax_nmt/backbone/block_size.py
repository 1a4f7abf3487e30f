"""How much is computed at a time, on a CPU and on a GPU."""

from typing import NamedTuple

import torch


class BlockSize(NamedTuple):
    """A number of elements: few enough for a CPU's cache, or enough to keep a GPU busy."""

    cpu: int
    gpu: int

    def on(self, device: torch.device) -> int:
        """The number on a device."""
        return self.cpu if device.type == "cpu" else self.gpu
