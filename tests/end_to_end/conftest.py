"""A model trained on the small corpus for a few updates."""

from pathlib import Path

import pytest
from commands import fairseq, succeed


@pytest.fixture(scope="session")
def training() -> tuple[str, ...]:
    """What the end-to-end tests train."""
    return (
        *("--arch", "dependency_transformer_tiny", "--load-dependencies"),
        *("--criterion", "dependency_cross_entropy", "--label-smoothing", "0.1"),
        *("--share-all-embeddings", "--optimizer", "adam", "--lr", "3e-3"),
        *("--max-tokens", "2000", "--max-update", "12", "--no-epoch-checkpoints"),
        *("--log-format", "json", "--log-interval", "4"),
    )


@pytest.fixture(scope="session")
def checkpoint(prepared, training, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    succeed(*fairseq("train", prepared.data, *training, "--save-dir", folder))
    return folder / "checkpoint_last.pt"
