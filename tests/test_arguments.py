"""Options that are declared by name and help."""

import argparse

import pytest

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.cli import main


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
def test_zero_is_refused_while_the_line_is_read(command, option, capsys):
    with pytest.raises(SystemExit):
        main([command, option, "0"])
    assert f"argument {option}: '0' is not a whole number of 1 or more" in capsys.readouterr().err
