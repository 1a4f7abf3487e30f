"""Exclusive and shared locks of folders."""

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
def folder_lock(
    folder: Path, busy: str | None = None, shared: bool = False, inherited: bool = False
) -> Iterator[int]:
    """Locks a folder until the end of the block. The lock ends with the process.

    Args:
        folder: created if missing.
        busy: message if another process holds it; None = wait for that one.
        shared: allow other shared locks, but no exclusive lock.
        inherited: the lock also ends only with programs started with `close_fds=False`, which may
            survive this process.

    Yields:
        the descriptor of the lock, which programs can hold on to.

    Raises:
        UserError: another process holds it, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
        os.set_inheritable(handle, inherited)
    except OSError as error:  # recipes recognise this message
        raise UserError(f"cannot work in {folder}: {error.strerror}") from None
    try:
        try:
            how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(handle, how if busy is None else how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(str(busy)) from None
        except OSError:
            pass  # a file system without locks
        yield handle
    finally:
        os.close(handle)


@contextmanager
def sole_user(folder: Path, outputs: Iterable[Path] = ()) -> Iterator[None]:
    """Locks a folder for this process and its programs, and removes what killed ones left.

    Args:
        folder: created if missing.
        outputs: the files and folders to write there. For each, files `NAME.partial<digits>` and a
            folder `NAME.partial` are removed, and nothing else.

    Raises:
        UserError: another process works there, or the folder cannot be made.
    """
    busy = f"another process prepares {folder}: wait for it or give another --destdir"
    with folder_lock(folder, busy, inherited=True):
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
