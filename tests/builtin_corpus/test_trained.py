"""`syntax-nmt demo --trained`: a model to look at, with trees of both kinds."""

import pytest
from commands import syntax_nmt

from syntax_nmt.builtin_corpus import trained
from syntax_nmt.builtin_corpus.trained import train
from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.inference.loading import load


@pytest.mark.slow
def test_the_printed_model_has_both_kinds_of_trees(tmp_path):
    sizes = ("--train", "1000", "--valid", "20", "--test", "20")
    done = syntax_nmt("demo", tmp_path / "demo", "--trained", *sizes)
    command, sentence = done.stdout.splitlines()[-2:]
    *_, checkpoint, data = command.split()
    model = load(checkpoint, data, device="cpu")
    words = sentence.partition(": ")[2]
    assert model.translate(words)
    assert len(model.trees(words, "dependencies")) == len(words.split())
    assert len(model.trees(words, "constituents")) == len(words.split())


@pytest.mark.dear
def test_what_failed_is_said(tmp_path):
    with pytest.raises(UserError, match=r"prepare\.log: syntax_nmt\.cli failed: .*train\.src"):
        train(tmp_path, tmp_path / "demo.json")


def test_a_model_of_another_corpus_is_not_resumed(tmp_path, monkeypatch, capsys):
    checkpoint = tmp_path / "checkpoints" / "checkpoint_last.pt"
    resumed = []

    def run(log, *command):
        if log.name == "train.log":
            resumed.append(checkpoint.exists())
            checkpoint.touch()

    monkeypatch.setattr(trained, "_run", run)
    sizes = ["--train=5", "--valid=5", "--test=5", "--contrast=5"]
    for more in ([], [], ["--seed=2"], ["--train=6"]):
        main(["demo", str(tmp_path), "--trained", *sizes, *more])
    main(["demo", str(tmp_path), *sizes])  # the corpus alone
    main(["demo", str(tmp_path), "--trained", *sizes])
    assert resumed == [False, True, False, False, False]
    assert capsys.readouterr().out.count("another corpus") == 3
    (tmp_path / "checkpoints/demo.json").unlink()
    with pytest.raises(SystemExit, match="did not train"):
        main(["demo", str(tmp_path), "--trained", *sizes])
    assert checkpoint.exists()
