"""Where a mistake ends the process with one line, and where it stays an exception."""

import subprocess
import sys

import pytest
from commands import REPOSITORY

from syntax_nmt.errors import UserError, exits_in_fairseq_programs, named_as_in_python


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


def test_messages_name_arguments_as_python_has_them():
    said = "--beam 0: give --max-len-b, not --arch, a/--beam or x--beam: --"
    with pytest.raises(UserError) as raised, named_as_in_python("beam", "max_len_b"):
        raise UserError(said) from KeyError("why")
    assert str(raised.value) == "beam 0: give max_len_b, not --arch, a/--beam or x--beam: --"
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_python_without_fairseq_is_told_of_the_environment():
    """In a checkout it finds this package."""
    program = "import sys; sys.modules['fairseq.data'] = None; from syntax_nmt import load"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].startswith("ModuleNotFoundError: fairseq")
    assert "activate the environment" in found.stderr.splitlines()[-1]


def test_long_values_are_cut_and_paths_are_not():
    path = "/".join(["f" * 255] * 4)
    assert str(UserError(f"{path}: {'x' * 299} is no label")).endswith(f": {'x' * 299} is no label")
    assert str(UserError(f"{path}: {'x' * 300} is no label")) == f"{path}: {'x' * 200}… is no label"
