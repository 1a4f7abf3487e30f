"""Steps are done once, and again when anything they depend on is not what it was; what a killed one
left is cleared away, and nothing of the user's.
"""

import json

import pytest

from syntax_nmt.data.folder_lock import sole_user
from syntax_nmt.data.text_files import write_atomically
from syntax_nmt.preparation.steps import Steps


@pytest.fixture
def work(tmp_path):
    """Runs a step that copies a text; returns how often it has really run."""
    done = []

    def run(text="text", option=1):
        output = tmp_path / "out"

        def make():
            done.append(text)
            with write_atomically(output) as out:
                out.write(text)
            return {"length": len(text)}

        steps = Steps(tmp_path / "steps.json", lambda line: None)
        report = steps.run("copy", {"text": text, "option": option}, make, lambda: [output])
        assert report == {"length": len(text)}
        assert output.read_text() == text
        return len(done)

    return run


def test_done_once(work):
    assert [work(), work(), work()] == [1, 1, 1]


def test_done_again_when_made_from_something_else(work):
    assert [work(), work(option=2), work(text="other"), work(text="other")] == [1, 2, 3, 3]


def test_done_again_when_its_file_is_gone_or_other(work, tmp_path):
    assert work() == 1
    (tmp_path / "out").unlink()
    assert work() == 2
    (tmp_path / "out").write_text("tex")
    assert work() == 3


def test_below_a_file_no_record_is_damaged(tmp_path):
    """The folder to work in is refused later, and for what it is."""
    (tmp_path / "file").touch()
    said = []
    assert Steps(tmp_path / "file" / "steps.json", said.append).report("copy") is None
    assert not said


@pytest.mark.parametrize("damaged", ["{", "[]", "3", "[" * 100_000])
def test_a_damaged_record_is_no_record(work, tmp_path, damaged):
    assert work() == 1
    record = tmp_path / "steps.json"
    record.write_text(damaged)
    assert [work(), work()] == [2, 2]
    assert json.loads(record.read_text())["copy"]["report"] == {"length": 4}


def test_a_failing_step_leaves_no_record(tmp_path):
    def fail():
        with write_atomically(tmp_path / "out") as out:
            out.write("half")
            raise RuntimeError

    steps = Steps(tmp_path / "steps.json", lambda line: None)
    with pytest.raises(RuntimeError):
        steps.run("fail", {}, fail, list)
    assert list(tmp_path.iterdir()) == []


def test_only_what_the_program_writes_is_cleared_away(tmp_path):
    outputs = [tmp_path / "prepare.json", tmp_path / "words" / "train.de", tmp_path / "data-bin"]
    ours = ["prepare.json.partial12", "words/train.de.partial7", "data-bin.partial/dict.de.txt"]
    others = ["thesis.partial1", "mail.partial/kept", "pictures/train.de.partial7"]
    others += [f"prepare.json.partial{ending}" for ending in ("", "1.bak", "ly")]
    of_words = ("notes.partial1", "valid.de.partial7", "train.de.partial8/kept", "train.de")
    others += [f"words/{name}" for name in of_words]
    for name in (*ours, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    with sole_user(tmp_path, outputs):
        left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == set(others)
    assert not (tmp_path / "data-bin.partial").exists()
