"""The command line: the command comes first, numbers are of 1 or more, no option is idle."""

import argparse
import importlib

import pytest
from translations import refused

from syntax_nmt.arguments import add_numbers, positive_int
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


IDLE = [
    ("score x --reference y --confidence-n 5", "--confidence-n does nothing without --confidence"),
    ("score x --reference y --seed 5", "--seed does nothing without --confidence"),
    ("score x --reference y --seed 0", "--seed does nothing without --confidence"),
    ("align x --path y --gold-base 0", "--gold-base does nothing without --score"),
    (
        "score x -r y --sentence-metric z",
        "--sentence-metric does nothing without",
    ),
    (
        "compare x y -r z --sentence-lower",
        "--sentence-lower does nothing without",
    ),
    ("report x -r z --sentence-lower", "--sentence-lower does nothing without"),
    ("average x --by epochs --output y", "--by does nothing without --last"),
    ("chunk --train x --output y --workers 2", "--workers does nothing without --input"),
    ("chunk --trees x --output y --stanza-dir z", "--stanza-dir does nothing without --input"),
    ("chunk --trees x --output y --by rules", "--by does nothing without --input"),
    ("chunk --score x --num-shards 2 --shard-id 1", "--num-shards does nothing without --input"),
    (
        "chunk --input x --output y --stanza-model pos=z",
        "--stanza-model pos=z: is no model of chunks, which are made here",
    ),
    ("options --markdown gcn", "gcn does nothing with --markdown, which prints all options"),
    ("options --markdown --training x", "--training does nothing with --markdown"),
    ("chunk --input x --output y --max-steps 3", "--max-steps does nothing without --train"),
]


@pytest.mark.parametrize(("command", "said"), IDLE)
def test_idle_options(command, said):
    assert refused(*command.split()).startswith(said)


def test_numbers_have_defaults_that_the_help_names(capsys):
    parser = argparse.ArgumentParser()
    add_numbers(parser, positive_int, max_words=(250, "longest sentence"), last="the N latest")
    args = parser.parse_args([])
    assert (args.max_words, args.last) == (250, None)
    assert parser.parse_args(["--max-words", "3", "--last", "2"]).max_words == 3
    said = " ".join(parser.format_help().split())
    assert "--max-words N longest sentence (default: 250)" in said
    assert said.endswith("--last N the N latest")
    with pytest.raises(SystemExit):
        parser.parse_args(["--last", "0"])
    assert "'0' is not a whole number of 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("parse", "--num-shards"),
        ("chunk", "--max-steps"),
        ("prepare", "--vocab-size"),
        ("binarize", "--workers"),
    ],
)
def test_zero_is_refused(command, option, capsys):
    with pytest.raises(SystemExit):
        main([command, option, "0"])
    assert f"argument {option}: '0' is not a whole number of 1 or more" in capsys.readouterr().err
