"""A folder that one process at a time works in."""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from syntax_nmt.preprocess.annotation.folder_lock import folder_lock

_PARTIAL_FILE = re.compile(r"\.partial[0-9]+")


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
