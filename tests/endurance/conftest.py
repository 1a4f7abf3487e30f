"""One short training of each method, shared by all tests and by the processes that run them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import fairseq, succeed
from filelock import FileLock
from methods import COMMON, METHODS

UPDATES = 12


@pytest.fixture(scope="session")
def trained(prepared, shared_folder) -> Callable[[str], Path]:
    """Gives the checkpoint of a method after a few updates; the first who asks trains it."""

    def checkpoint(method: str) -> Path:
        folder = shared_folder / "trained" / method
        path = folder / "checkpoint_last.pt"
        with FileLock(f"{shared_folder / method}.lock"):
            if not path.is_file():
                command = fairseq("train", prepared.data, *METHODS[method], *COMMON)
                succeed(*command, "--max-update", UPDATES, "--save-dir", folder)
        return path

    return checkpoint
