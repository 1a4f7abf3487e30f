"""One run as a job, killed after its training and started again."""

import json
import os

import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from experiments.training import RunJob, value_at

OPTIONS = """
  --task syntax_translation --arch syntax_transformer_tiny --share-all-embeddings
  --criterion label_smoothed_cross_entropy --optimizer fused_adam --lr 1e-3 --max-tokens 400
  --no-epoch-checkpoints --save-interval-updates 2 --keep-interval-updates 2 --log-interval 1
  --max-update 4
"""


def test_a_training_at_its_end_is_left_as_it_is(prepared, tmp_path):
    data, folder = tmp_path / "data", tmp_path / "run"
    data.mkdir()
    folder.mkdir()
    (data / "prepared").symlink_to(prepared.folder)
    (data / "done.json").write_text(json.dumps({"checksum": "", "tests": ["test"]}))
    plan = {"options": OPTIONS, "seed": 1, "average": 2, "generate": "--beam 1", "figures": {}}
    with open(os.devnull) as lock:
        job = RunJob(plan, folder, data, "cpu", lock.fileno())
        model = job.train()
        before = job.train_log.read_bytes(), model.stat().st_size
        assert job.train() == model  # fairseq itself would go on to a fifth update
        assert (job.train_log.read_bytes(), model.stat().st_size) == before
        facts = job.training_facts()
        assert facts["updates"] == 4
        assert facts["parameters"] > 1000
        assert 5 < job.validation_nll(model) < 15
    assert not any(str(tmp_path) in line for line in job.kept_log())


def test_a_value_by_its_path():
    content = {"alignments": [{"aer": 12.5}], "uas": 90}
    assert value_at(content, "alignments.0.aer") == 12.5
    assert value_at(content, "uas") == 90
