"""torch is asked what it does: a version's number does not tell, least of all before a release."""

import pickle

import pytest
import torch

from syntax_nmt.checkpoints.safe_loader import allow_fairseq_checkpoints
from syntax_nmt.errors import UserError

LOAD = torch.load


@pytest.mark.parametrize("version", ["2.6.0a0+git1", "2.6.0.dev20241101", "2.6.0rc1", "2.10.0"])
def test_refused_where_anything_is_loaded(monkeypatch, version):
    allow_fairseq_checkpoints()
    monkeypatch.setattr(torch, "__version__", version)
    monkeypatch.setattr(torch, "load", lambda stream: LOAD(stream, weights_only=False))
    with pytest.raises(UserError, match=r"run code .* install torch 2\.6"):
        allow_fairseq_checkpoints()


def test_whatever_the_version_says(monkeypatch):
    def load(_):
        raise pickle.UnpicklingError("Weights only load failed")

    monkeypatch.setattr(torch, "__version__", "2.5.1")
    monkeypatch.setattr(torch, "load", load)
    allow_fairseq_checkpoints()
