"""`syntax-nmt train` and `translate`: fairseq's programs with the lines that `prepare` prints."""

import re
import shlex
import shutil

import pytest
from commands import refuse, run, syntax_nmt

from syntax_nmt import FOLDER
from syntax_nmt.preparation.training_commands import next_commands, trainable
from syntax_nmt.preparation.training_data import TrainingData

FEW = ("--", "--max-epoch", "1", "--validate-interval", "1", "--max-update", "3")


@pytest.fixture(scope="module")
def folder(prepared, tmp_path_factory):
    """A copy of the prepared corpus, to train in."""
    copy = tmp_path_factory.mktemp("train") / "prepared"
    return shutil.copytree(prepared.folder, copy)


@pytest.fixture(scope="module")
def trained(folder, prepared):
    """What a training of two methods with two seeds printed."""
    methods = ("baseline", "pascal", "--seeds", "1", "2")
    reference = prepared.corpus / "test.tgt"
    return syntax_nmt("train", folder, *methods, "--compare", reference, *FEW)


@pytest.mark.dear
def test_every_method_is_trained_with_every_seed_and_compared(trained, folder):
    for method in ("baseline", "pascal"):
        for seed in (1, 2):
            made = folder / method / f"seed{seed}"
            assert (made / "checkpoint_best.pt").is_file()
            assert f"'seed': {seed}," in (made / "train.log").read_text("utf-8")
            assert len(re.findall("^D-", (made / "test.out").read_text("utf-8"), re.M)) == 20
            said = rf"{method}, seed {seed}: epoch 1, 3 updates: [\d.]+ bits"
            assert re.search(said, trained.stdout)
    assert "Δ: difference from baseline" in trained.stdout
    assert re.search(r"^pascal +\d", trained.stdout, re.M)


@pytest.mark.dear
def test_what_is_finished_is_not_done_again(trained, folder):
    output = folder / "pascal" / "seed2" / "test.out"
    before = output.stat().st_mtime_ns
    again = syntax_nmt("train", folder, "pascal", "--seeds", "2", *FEW)
    assert output.stat().st_mtime_ns == before
    assert "epoch" not in again.stdout
    assert "translating" not in again.stdout


@pytest.mark.dear
def test_typed_text_is_translated(trained, folder, prepared):
    lines = (prepared.corpus / "test.src").read_text("utf-8").splitlines()[:3]
    text = "".join(f"{line}\n" for line in lines)
    done = syntax_nmt("translate", folder, "baseline", "--seed", "1", stdin=text)
    assert len(done.stdout.splitlines()) == 3
    (folder / "text").write_text(text, "utf-8")
    same = syntax_nmt("translate", folder, "baseline", folder / "text", "--seed", "1")
    assert same.stdout == done.stdout
    other = syntax_nmt(
        "translate", folder, "baseline", "--seed", "1", "--", "--beam", "1", stdin=text
    )
    assert len(other.stdout.splitlines()) == 3
    said = refuse("syntax_nmt.cli", "translate", folder, "baseline")
    assert "no such checkpoint: give --seed 1" in said


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("train", "{}", "pascl"), "pascl: no such method: did you mean pascal?"),
        (("train", "{}", "nothing"), "nothing: no such method: choose of baseline, "),
        (("train", "{}", "baseline", "--compare", "nowhere"), "--compare nowhere: no such file"),
        (("translate", "{}", "heads"), "no such checkpoint: train it by syntax-nmt train"),
        (("translate", "{}", "pascal", "--seed", "1"), "typed text would need dependency trees"),
        (("translate", "{}", "baseline", "nowhere"), "nowhere: no such file"),
        (("train", "nowhere", "baseline"), "nowhere"),
    ],
)
def test_mistakes_are_one_line(folder, words, part):
    assert part in refuse("syntax_nmt.cli", *(word.format(folder) for word in words))


def test_a_method_whose_annotation_is_missing_is_refused_by_name(folder, tmp_path):
    plain = shutil.copytree(folder / "data-bin", tmp_path / "data-bin")
    (plain / "syntax.json").unlink()
    said = refuse("syntax_nmt.cli", "train", tmp_path, "features")
    assert "has no universal parts of speech" in said or "has no " in said
    assert "with --features upos,deprel" in said


@pytest.mark.dear
def test_a_program_that_fails_is_named_with_its_reason(folder):
    said = refuse("syntax_nmt.cli", "train", folder, "latent", "--", "--max-tokens", "2")
    assert "fairseq-train failed: " in said
    assert not (folder / "latent" / "test.out").exists()


def test_the_lines_are_those_that_options_prints(folder):
    """`--dry-run` runs nothing."""
    data = TrainingData.of(folder)
    printed = next_commands(data, FOLDER).replace(" \\\n   ", "")
    for method in trainable(data):
        done = syntax_nmt("train", folder, method.save_dir, "--dry-run")
        train, translate = done.stdout.replace(" \\\n   ", "").splitlines()
        assert train in printed
        assert shlex.split(translate)[0] == "fairseq-generate"
        one = syntax_nmt("options", "--training", folder, method.save_dir).stdout
        assert one.replace(" \\\n   ", "").splitlines()[0] == train
    assert not (folder / "ngrams").exists()


@pytest.mark.dear
def test_a_killed_training_resumes(folder):
    long = ("--", "--max-epoch", "3", "--validate-interval", "1", "--save-interval-updates", "2")
    command = ("train", folder, "lisa", *long)
    stopped = run("syntax_nmt.cli", *command, "--max-update", "4")
    assert stopped.returncode == 0
    log = folder / "lisa" / "train.log"
    syntax_nmt(*command)
    assert "Loaded checkpoint" in log.read_text("utf-8")
    assert log.read_text("utf-8").count("loading train data for epoch") >= 2
