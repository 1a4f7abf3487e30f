"""The file of `fairseq-interactive --input`, as its lines reach the program."""

import argparse
import sys

import pytest

from syntax_nmt.task.early_options import check_while_parsing


@pytest.fixture
def parser(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)  # which the option replaces
    parser = argparse.ArgumentParser()
    parser.add_argument("--buffer-size", default=0)
    parser.add_argument("--input", default="-")
    check_while_parsing(parser)
    return parser


def test_only_newlines_end_lines_and_a_byte_order_mark_is_no_text(parser, tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffein\rHaus\n\ufeffein Baum\r\n".encode())
    assert parser.parse_args(["--input", str(path)]).input == "-"
    with sys.stdin:
        assert list(sys.stdin) == ["ein\rHaus\n", "\ufeffein Baum\r\n"]
