"""The folder of a training's checkpoints: one training writes to it, and it has room for them."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from torch import nn

from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.errors import UserError

_held = ExitStack()
# Loaders of data survive a killed training for seconds, and would keep the lock.
os.register_at_fork(after_in_child=_held.close)


def lock_checkpoints(folder: str) -> None:
    """Locks a folder until the process ends or begins another training.

    Args:
        folder: created if missing.

    Raises:
        UserError: another process trains there, or the folder cannot be made.
    """
    _held.close()
    busy = f"another process trains in {folder}: wait for it or give another --save-dir"
    _held.enter_context(folder_lock(Path(folder), busy))


def check_room(folder: str, model: nn.Module) -> None:
    """Checks whether a disk has room for the weights of one checkpoint.

    Args:
        folder: of the checkpoints; exists.

    Raises:
        UserError: it has not; names both sizes.
    """
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    free = shutil.disk_usage(folder).free
    if free < size:
        raise UserError(
            f"{folder}: {free / 1e6:,.1f} MB are free, and a checkpoint has more than "
            f"{size / 1e6:,.1f} MB: make room, or give --save-dir a folder on another disk"
        )
