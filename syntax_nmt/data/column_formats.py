"""Formats that are taken for CoNLL-U, told by a line of theirs, with the way to CoNLL-U."""

from __future__ import annotations

BROKEN_LINE = "correct the line, or write the file again if it is truncated"


def named_format(line: str) -> str:
    """What a line without CoNLL-U's ten columns may be, and what to do, to end a message with.

    Args:
        line: a line that is no comment.
    """
    columns = line.split("\t")
    spaced = line.split()
    if len(columns) >= 14 and columns[0].isdecimal() and columns[8].isdecimal():
        return (
            " (this looks like CoNLL-09, whose HEAD is column 9): convert it to CoNLL-U, for "
            "instance with awk -F'\\t' -v OFS='\\t' 'NF{print $1,$2,$3,$5,$5,$7,$9,$11,\"_\",\"_\";"
            "next}1'"
        )
    if len(columns) == 1 and line.startswith("("):
        return (
            " (this looks like a bracketed tree): name a file of constituents .trees, one tree a "
            "line"
        )
    if len(columns) == 1 and len(spaced) >= 8 and spaced[0].isdecimal():
        return " (its columns are separated by spaces): separate them by tabs, as CoNLL-U does"
    if len(columns) == 1 and len(spaced) in (2, 3) and spaced[-1][:2] in ("B-", "I-", "O"):
        return (
            " (this looks like CoNLL-2000's columns of chunks): write chunks into a .chunks file, "
            "IOB2 tags, one line a sentence"
        )
    return f": {BROKEN_LINE}"
