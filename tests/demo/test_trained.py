"""`syntax-nmt demo --trained`: a model to look at, with trees of both kinds."""

import pytest
from commands import syntax_nmt

from syntax_nmt.demo.trained import train
from syntax_nmt.errors import UserError
from syntax_nmt.loaded_model import load


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


def test_what_failed_is_said(tmp_path):
    with pytest.raises(UserError, match=r"prepare\.log: syntax_nmt\.cli failed: .*train\.src"):
        train(tmp_path)
