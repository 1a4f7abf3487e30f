"""Where a mistake ends the process with one line, and where it stays an exception."""

import sys

import pytest

from syntax_nmt.errors import UserError, exits_in_fairseq_programs


@pytest.mark.parametrize(
    ("started", "ends"),
    [
        ("/env/bin/fairseq-train", True),
        ("C:/env/Scripts/fairseq-hydra-train.exe", True),
        ("/env/lib/fairseq_cli/generate.py", True),  # python -m fairseq_cli.generate
        ("/env/bin/syntax-nmt", False),  # which has a line of its own
        ("/env/lib/ipykernel_launcher.py", False),
        ("", False),
    ],
)
def test_programs_are_known_by_their_names(started, ends, monkeypatch):
    monkeypatch.setattr(sys, "argv", [started, "data-bin"])
    message = "syntax-nmt: error: wrong" if ends else "wrong"
    with pytest.raises(SystemExit if ends else UserError) as raised, exits_in_fairseq_programs():
        raise UserError("wrong")
    assert str(raised.value) == message
