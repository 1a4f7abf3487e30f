"""A folder that one process at a time works in."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syntax_nmt.errors import UserError


@contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """Keeps a folder to this process, and clears away what a killed one left half-written.

    Args:
        folder: made if it is not there.

    Raises:
        UserError: when another process works there, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"cannot work in {folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another process prepares {folder}: wait for it or give another --destdir"
            ) from None
        except OSError:
            pass  # a file system without locks
        _clear(folder)
        yield
    finally:
        os.close(handle)


def _clear(folder: Path) -> None:
    for path in (*folder.glob("*.partial*"), *folder.glob("*/*.partial*")):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
