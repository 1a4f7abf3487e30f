"""A model trained on the small corpus for a few updates."""

from pathlib import Path

import pytest
from commands import fairseq, succeed
from training import TRAINING


@pytest.fixture(scope="session")
def checkpoint(prepared, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    succeed(*fairseq("train", prepared.data, *TRAINING, "--save-dir", folder))
    return folder / "checkpoint_last.pt"
