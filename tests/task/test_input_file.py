"""The text of `fairseq-interactive`, a file or piped, as its lines reach the program."""

import argparse
import io
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


def test_piped_text_is_read_likewise_whatever_the_locale(parser, monkeypatch):
    piped = io.BytesIO("\ufeffein Haus\n".encode() + "für\n".encode("latin-1"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped, encoding="ascii", errors="strict"))
    for _ in range(2):  # fairseq parses a command line twice
        assert parser.parse_args([]).input == "-"
    assert list(sys.stdin) == ["ein Haus\n", "f\udcfcr\n"]
