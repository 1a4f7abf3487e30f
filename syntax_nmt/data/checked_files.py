"""Checksums of a data folder that were computed once: for all kinds, ranks and later runs.

Every training run compares its files with `syntax.json`, and so does each of its processes. A file
is read once; after that, its size, its times and its number on the disk tell that it is the same. A
copy of the folder has other numbers, so that its files are read again.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from syntax_nmt.data.manifest import NAME as MANIFEST
from syntax_nmt.data.manifest import Fingerprint
from syntax_nmt.data.text_files import read_json

NAME = ".checked.json"
_RECENT = 2e9  # nanoseconds: a file may be written again within the same tick of its clock


def checked_fingerprint(path: Path) -> Fingerprint:
    """The fingerprint of a file, read only if nobody has read it since it was written.

    Processes of a node that ask at the same time wait for the one that reads. In a folder that
    cannot be written to, every process reads.

    Args:
        path: of a file in a folder with a manifest.

    Raises:
        OSError: it cannot be read.
        ValueError: no file can have the name.
    """
    stamp = _stamp(path)
    if not os.access(path.parent, os.W_OK):
        return Fingerprint.of(path)
    with _locked(path.parent / MANIFEST):
        known = _read(path.parent / NAME)
        found = known.get(path.name)
        if found is not None and found[:-1] == stamp:
            return Fingerprint(stamp[0], found[-1])
        fingerprint = Fingerprint.of(path)
        settled = time.time_ns() - max(stamp[1:3]) > _RECENT
        if settled and _stamp(path) == stamp:
            known[path.name] = [*stamp, fingerprint.crc32]
            with suppress(OSError):  # a full disk: it will be read again
                _write(path.parent / NAME, known)
    return fingerprint


def _stamp(path: Path) -> list[int]:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "rb") as stream:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _read(record: Path) -> dict[str, list]:
    """What is known; nothing if the record is damaged."""
    try:
        found = read_json(record)
    except (OSError, ValueError):
        return {}
    wanted = isinstance(found, dict) and all(
        isinstance(each, list) and len(each) == 5 and isinstance(each[-1], str)
        for each in found.values()
    )
    return found if wanted else {}


def _write(record: Path, known: dict[str, list]) -> None:
    """Replaces the record; if somebody made it a link, the link and not what it points to."""
    handle, partial = tempfile.mkstemp(prefix=NAME, dir=record.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(known, stream)
        shutil.copymode(record.with_name(MANIFEST), partial)  # mkstemp's would be the user's alone
        os.replace(partial, record)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)
