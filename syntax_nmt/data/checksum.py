"""The checksum that models, steps and shards are recognised by."""

from __future__ import annotations

import hashlib
from pathlib import Path

_BLOCK = 1 << 20


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
