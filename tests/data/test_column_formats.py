"""Formats that are not CoNLL-U are named for what they are."""

from __future__ import annotations

import gzip

import pytest

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\tgo\tgo\tgo\tVB\tVB\t_\t_\t0\t0\troot\troot\t_\t_\n", r"14 .* CoNLL-09, .*awk"),
        ("1 go go VB VB _ 0 root _ _\n", r"1 .*separated by spaces"),
        ("(S (V go))\n", r"1 .*bracketed tree"),
        ("go VB B-VP\n", r"1 .*CoNLL-2000"),
        ("1\tgo\n", r"2 tab-separated columns instead of 10: correct"),
    ],
)
def test_what_it_looks_like(tmp_path, line, message):
    path = tmp_path / "a.conllu"
    path.write_text(line)
    with pytest.raises(UserError, match=rf"a\.conllu:1: {message}"):
        list(read_conllu(path))


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_byte_order_mark_is_no_text(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    content = "\ufeffdas\nHaus\n".encode()
    path.write_bytes(gzip.compress(content) if ending else content)
    assert list(read_lines(path)) == ["das", "Haus"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_carriage_return_ends_no_line(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    content = "das\rHaus\r\n\r\r\nist\u2028klein\n\rund".encode()
    path.write_bytes(gzip.compress(content) if ending else content)
    assert list(read_lines(path)) == ["das\rHaus", "\r", "ist\u2028klein", "\rund"]
