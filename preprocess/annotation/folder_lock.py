"""A folder that processes keep for themselves, or share with their like."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from syntax_nmt.errors import UserError


@contextmanager
def folder_lock(folder: Path, busy: str, shared: bool = False) -> Iterator[Callable[[], bool]]:
    """Holds a folder until the end of the block. A process that dies lets go of it.

    Yields what tells whether the folder of this name is still the one that is held.

    Args:
        folder: made if it is not there.
        busy: what to say when another process holds it.
        shared: others that share it may hold it, too; none may that wants it alone.

    Raises:
        UserError: another process holds it, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"cannot work in {folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(busy) from None
        except OSError:
            pass  # a file system without locks
        yield lambda: folder.is_dir() and os.path.samestat(os.fstat(handle), folder.stat())
    finally:
        os.close(handle)
