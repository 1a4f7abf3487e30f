"""The first word of the command line, and a missing environment."""

import importlib

import pytest
from translations import refused

from syntax_nmt.cli import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json", "x", "score"], "--json: the command comes first: syntax-nmt COMMAND --json"),
        (["scor", "x"], "scor: no such command: did you mean score?"),
        (["--hypothesis"], "--hypothesis: the command comes first"),
    ],
)
def test_the_command_comes_first(arguments, said, capsys):
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert said in capsys.readouterr().err


def test_an_environment_without_fairseq(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'fairseq'", name="fairseq")

    monkeypatch.setattr(importlib, "import_module", missing)
    message = refused("align", "x")
    assert message.startswith("fairseq is not installed in ")
    assert "activate the environment" in message
