"""Which GPU a process works on: the one of its local rank."""

from __future__ import annotations

import os

import torch

LOCAL_RANK = "LOCAL_RANK"  # torchrun's name; the workers of a pool are given one, too
_SLURM_LOCAL_RANK = "SLURM_LOCALID"


def pinned_device(device: str) -> str:
    """`cuda` made definite by the process's local rank; anything else stays as it is.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.
    """
    if device != "cuda" or not torch.cuda.is_available():
        return device
    return f"cuda:{local_rank() % torch.cuda.device_count()}"


def local_rank() -> int:
    """The number of this process among those of its machine; 0 where nothing tells."""
    rank = os.environ.get(LOCAL_RANK) or os.environ.get(_SLURM_LOCAL_RANK) or "0"
    return int(rank) if rank.isdigit() else 0
