"""One run as a job, killed after its training and started again."""

import gzip
import json
import os
import re

import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from commands import REPOSITORY, succeed
from nonempty import some
from prepared_corpus import TEST_SENTENCES

from experiments.training import RunJob, value_at
from syntax_nmt.errors import UserError

OPTIONS = """
  --task translation --arch transformer --share-all-embeddings
  --encoder-layers 1 --encoder-embed-dim 32 --encoder-ffn-embed-dim 32
  --decoder-layers 1 --decoder-embed-dim 32 --decoder-ffn-embed-dim 32
  --criterion label_smoothed_cross_entropy --optimizer fused_adam --lr 1e-3 --max-tokens 400
  --no-epoch-checkpoints --save-interval-updates 2 --keep-interval-updates 2 --log-interval 1
  --max-update 4
"""


@pytest.fixture
def planned(prepared, tmp_path, monkeypatch):
    """The folder and the data of a run whose plan has these options, and the plan."""
    data, folder = tmp_path / "data" / "d", tmp_path / "runs" / "k"
    data.mkdir(parents=True)
    folder.mkdir(parents=True)
    (data / "prepared").symlink_to(prepared.folder)
    (data / "done.json").write_text(json.dumps({"checksum": "c", "tests": ["test"]}))
    languages = {"source": "src", "target": "tgt"}
    (data / "data.json").write_text(json.dumps({"data": languages}))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "examples"))

    def make(options, average):
        plan = {"data": "d", "options": options, "seed": 1, "average": average, "figures": {}}
        plan["generate"] = "--task translation --tokenizer syntax_words --beam 1 --max-len-b 5"
        (folder / "run.json").write_text(
            json.dumps({"key": "k", "name": "family.system.1", "seed": 1, "plan": plan})
        )
        return folder, data, plan

    return make


@pytest.mark.slow
@pytest.mark.parametrize("average", [0, 2])
def test_a_training_that_diverges_has_a_record(planned, tmp_path, average):
    planned(OPTIONS.replace("--lr 1e-3", "--lr 1e38"), average)
    record = tmp_path / "family.system.1.k.json"
    succeed("experiments.training", tmp_path, "k", record, "cpu", "some-commit")
    found = json.loads(record.read_text(encoding="utf-8"))
    assert (found["validation_nll"], found["figures"]) == (None, {})
    assert {path.name for path in tmp_path.glob("*.gz")} == {"family.system.1.k.log.gz"}
    assert not list(tmp_path.glob("runs/**/*.pt"))


@pytest.mark.slow
def test_a_training_at_its_end_is_not_begun_again(planned, tmp_path):
    folder, data, plan = planned(OPTIONS, average=2)
    record = tmp_path / "family.system.1.k.json"
    with open(os.devnull) as lock:
        job = RunJob(plan, folder, data, "cpu", lock.fileno())
        job.commits("lost-commit")  # nothing was trained then
        job.commits("earlier-commit")
        job.train()

    succeed("experiments.training", tmp_path, "k", record, "cpu", "some-commit")
    found = json.loads(record.read_text(encoding="utf-8"))
    assert found["updates"] == 4  # fairseq itself would have gone on to a fifth
    assert found["commit"] == "earlier-commit, some-commit"
    assert (found["device"], found["threads"]) == ("CPU", 1)
    assert found["parameters"] > 1000
    assert 5 < found["validation_nll"] < 15
    with gzip.open(record.with_suffix(".test.gz"), "rt", encoding="utf-8") as lines:
        assert len(list(lines)) == TEST_SENTENCES
    with gzip.open(record.with_suffix(".log.gz"), "rt", encoding="utf-8") as log:
        text = log.read()
    assert "num_updates=4" in text
    assert str(tmp_path) not in text
    assert not list(folder.rglob("*.pt"))


def test_a_training_that_diverges_before_its_first_losses(planned, monkeypatch):
    """Then nothing is known of it; a later failure of another kind is no divergence."""
    folder, data, plan = planned(OPTIONS, average=0)
    said = ["FloatingPointError: gradients are Nan/Inf", "MemoryError"]

    def run_program(module, arguments, log, **_):
        with log.open("a") as stream:
            print("begins", said.pop(0), sep="\n", file=stream)
        raise UserError("it failed")

    monkeypatch.setattr("experiments.training.run_program", run_program)
    job = RunJob(plan, folder, data, "cpu", 0)
    assert job.train() is None
    assert set(job.training_facts(None).values()) == {None}
    with pytest.raises(UserError, match="it failed"):
        job.train()
    with pytest.raises(UserError, match="no losses"):
        job.training_facts(folder / "model.pt")


def test_the_last_loss_is_the_last_finite_one(planned):
    folder, data, plan = planned(OPTIONS, average=0)
    job = RunJob(plan, folder, data, "cpu", 0)
    lines = ["2026-01-01 00:00:00 | INFO | fairseq_cli.train | num. shared model params: 7 (n)"]
    for epoch, loss in ((1, "2.5"), (2, "nan")):
        lines.append(
            f"2026-01-01 00:00:0{epoch} | INFO | train | epoch {epoch:03d} | loss {loss} | "
            f"nll_loss {loss} | num_updates {10 * epoch} | wall {epoch}"
        )
    job.train_log.parent.mkdir(parents=True, exist_ok=True)
    job.train_log.write_text("\n".join(lines) + "\n")
    assert 2.5 in job.training_facts(folder / "model.pt").values()


def test_what_programs_are_told(planned, monkeypatch):
    """The plan's seed trains, its model is evaluated, and the validation set chooses systems."""
    folder, data, plan = planned(OPTIONS, average=2)
    told = []

    def run_program(module, arguments, log, output=None, **_):
        told.append((module, arguments))
        if output is not None:
            output.write_text('{"valid_nll_loss": "3.5"}\nH-0\t-0.5\ta word\n')

    monkeypatch.setattr("experiments.training.run_program", run_program)
    for average, model in ((0, folder / "checkpoints" / "checkpoint_best.pt"), (2, "averaged.pt")):
        job = RunJob({**plan, "seed": 7, "average": average}, folder, data, "cpu", 0)
        assert job.train() == folder / model
    assert job.validation_nll(folder / "averaged.pt") == 3.5
    assert dict(job.translations(folder / "averaged.pt")) == {"test": ("a word",)}

    def of(module):
        return [dict(zip(given, given[1:])) for name, given in told if name == module]

    checkpoints, averaged = str(folder / "checkpoints"), str(folder / "averaged.pt")
    for training in some(of("fairseq_cli.train")):
        assert (training["--seed"], training["--save-dir"]) == ("7", checkpoints)
    (averaging,) = of("syntax_nmt.cli")
    assert (averaging["average"], averaging["--last"]) == (checkpoints, "2")
    assert averaging["--output"] == averaged
    (validation,) = of("fairseq_cli.validate")
    assert (validation["--path"], validation["--valid-subset"]) == (averaged, "valid")
    (generation,) = of("fairseq_cli.generate")
    assert (generation["--path"], generation["--gen-subset"]) == (averaged, "test")
    assert generation["--beam"] == "1"


def test_a_value_by_its_path():
    content = {"alignments": [{"aer": 12.5}], "uas": 90}
    assert value_at(content, "alignments.0.aer", "") == 12.5
    assert value_at(content, "uas", "") == 90


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("alignments.1.aer", "no 1 in"),
        ("uas.of", "no of in 90"),
        ("las", "no las in ['alignments', 'uas']"),
    ],
)
def test_a_wrong_path_is_named(path, said):
    with pytest.raises(UserError, match=rf"^figures\.UAS\.value: {path}: {re.escape(said)}"):
        value_at({"alignments": [{"aer": 12.5}], "uas": 90}, path, "figures.UAS.value")
