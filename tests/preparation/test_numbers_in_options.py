"""Numbers of 1 or more: a smaller one is refused while the command line is read."""

import pytest

from syntax_nmt.cli import main

OF_ANNOTATION = ("--max-words", "--batch-size", "--workers", "--part-size")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("parse", option) for option in (*OF_ANNOTATION, "--num-shards")),
        *(("chunk", option) for option in (*OF_ANNOTATION, "--num-shards", "--max-steps")),
        *(("prepare", option) for option in OF_ANNOTATION),
        *(("prepare", option) for option in ("--vocab-size", "--sentencepiece-lines")),
        *(("prepare", option) for option in ("--source-words", "--target-words")),
        ("binarize", "--workers"),
    ],
)
def test_zero_is_refused(command, option, capsys):
    with pytest.raises(SystemExit):
        main([command, option, "0"])
    assert f"argument {option}: '0' is not a whole number of 1 or more" in capsys.readouterr().err
