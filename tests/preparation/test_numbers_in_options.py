"""Numbers of 1 or more: a smaller one is refused while the command line is read."""

import pytest

from syntax_nmt.cli import main


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
