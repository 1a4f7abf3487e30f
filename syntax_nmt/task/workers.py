"""Whether the processes that were started together train together."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

from syntax_nmt.errors import UserError

# What torchrun tells the processes that it starts.
_TORCHRUN = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")


def check_joined() -> None:
    """Refuses to train alone where torchrun has started several processes.

    fairseq takes the number of GPUs that a process sees for the number of workers. On CPUs, and on
    machines of one GPU each, that is 1: every process would train by itself and all would write the
    same checkpoints.

    Raises:
        UserError: says which options join them.
    """
    if not all(name in os.environ for name in _TORCHRUN):
        return
    count = os.environ["WORLD_SIZE"]
    if count == "1" or (dist.is_available() and dist.is_initialized()):
        return
    options = f"--distributed-world-size {count}"
    if not torch.cuda.is_available():
        options += (
            " --distributed-init-method env:// --distributed-no-spawn --distributed-rank $RANK "
            "--distributed-backend gloo --ddp-backend legacy_ddp"
        )
    raise UserError(
        f"torchrun has started {count} processes, but each would train alone and write the same "
        f"checkpoints: add {options}"
    )
