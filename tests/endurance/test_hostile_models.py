"""Model files of Stanza's that hold a command: refused in a line, and the command has not run."""

import os
import pickle

import pytest
import torch
from executable_files import touching
from nonempty import some

from syntax_nmt.errors import UserError
from syntax_nmt.parsing.stanza.analysers import ANALYSERS
from syntax_nmt.parsing.stanza.models import TASKS, StanzaModels
from syntax_nmt.parsing.stanza.offline import open_pipeline
from syntax_nmt.parsing.stanza.segmenter import StanzaSegmenter

pytestmark = pytest.mark.dear

FILES = [(task, name) for task, names in TASKS.items() for name in names]
WRITERS = {
    "pickle": lambda hidden, path: path.write_bytes(pickle.dumps(hidden)),
    "zip": torch.save,
    "tar": lambda hidden, path: torch.save(hidden, path, _use_new_zipfile_serialization=False),
}


@pytest.fixture
def proof(tmp_path):
    """What the command makes."""
    return tmp_path / "proof"


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("task", "name"), FILES)
def test_every_file_of_every_task(tmp_path, proof, task, name, writer):
    files = tuple((other, tmp_path / other) for other in TASKS[task])
    for _, path in files:
        torch.save({}, path)
    for hidden in some(touching(proof).values()):
        WRITERS[writer]({"model": {}, "params": {"transitions": hidden}}, tmp_path / name)
        with pytest.raises(UserError, match=rf"^Stanza cannot load .*{name}"):
            ANALYSERS[task](StanzaModels(task, "en", None, files))
        assert not proof.exists()


@pytest.mark.parametrize("writer", WRITERS)
def test_tokenisers(tmp_path, proof, writer):
    for hidden in some(touching(proof).values()):
        WRITERS[writer]({"config": hidden}, tmp_path / "model.pt")
        with pytest.raises(UserError, match=r"^Stanza cannot load the tokeniser .*model\.pt"):
            StanzaSegmenter("zh", tmp_path / "model.pt")
        assert not proof.exists()


@pytest.mark.parametrize("before", [None, "0"])
def test_versions_of_stanza_that_load_code(tmp_path, proof, monkeypatch, before):
    """As 1.10 to 1.12 load parsers of constituents and word vectors."""
    if before is not None:
        monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", before)
    torch.save(touching(proof)["os.system"], tmp_path / "model.pt")
    monkeypatch.setattr("stanza.Pipeline", lambda path, **_: torch.load(path, weights_only=False))
    with pytest.raises(UserError, match=r"^Stanza cannot load a model: Unpickling"):
        open_pipeline("a model", None, path=tmp_path / "model.pt")
    assert not proof.exists()
    assert os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD") == before
