"""What running Stanza without a network, from files alone, takes everywhere."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch


def default_folder() -> Path:
    """The folder that Stanza downloads to unless told otherwise."""
    from stanza.resources.common import DEFAULT_MODEL_DIR

    return Path(DEFAULT_MODEL_DIR)


@contextmanager
def empty_resources() -> Iterator[str]:
    """A folder with an empty list of resources: without one Stanza does not start."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "resources.json").write_text(json.dumps({}), encoding="utf-8")
        yield folder


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside: models this small get slower with more, and differ in rounding."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
