"""A folder that processes keep for themselves, or share with their like."""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from syntax_nmt.errors import UserError

_PARTIAL_FILE = re.compile(r"\.partial[0-9]+")


@contextmanager
def folder_lock(folder: Path, busy: str, shared: bool = False) -> Iterator[None]:
    """Holds a folder until the end of the block. A process that dies lets go of it.

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
        yield
    finally:
        os.close(handle)


@contextmanager
def sole_user(folder: Path, outputs: Iterable[Path] = ()) -> Iterator[None]:
    """Keeps a folder to this process, and clears away what a killed one left half-written.

    Args:
        folder: made if it is not there.
        outputs: the files and folders that are written there. Cleared away are, beside each, files
            `NAME.partial<digits>` and a folder `NAME.partial`; all else is the user's.

    Raises:
        UserError: when another process works there, or the folder cannot be made.
    """
    busy = f"another process prepares {folder}: wait for it or give another --destdir"
    with folder_lock(folder, busy):
        _clear(outputs)
        yield


def _clear(outputs: Iterable[Path]) -> None:
    for output in outputs:
        for path in output.parent.glob(glob.escape(output.name) + ".partial*"):
            ending = path.name[len(output.name) :]
            if ending == ".partial" and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif _PARTIAL_FILE.fullmatch(ending) and path.is_file():
                path.unlink()
