"""Files of bracketed trees: one a line, or over several lines as the Penn Treebank prints them."""

from collections.abc import Iterator
from pathlib import Path

from syntax_nmt.data.constituents import ConstituentTree, parse_tree
from syntax_nmt.data.text_files import read_lines, refuse_pipe


def tree_texts(path: str | Path) -> Iterator[tuple[int, str]]:
    """The text of each tree, and the 1-based number of its first line.

    Where a file has lines that begin with a space, a tree continues until its brackets are closed,
    and lines between trees may be empty. Elsewhere every line is a tree.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: the file cannot be read, or not more than once.
    """
    refuse_pipe(path)
    if not any(line[:1].isspace() and line.strip() for line in read_lines(path)):
        yield from enumerate(read_lines(path), start=1)
        return
    parts: list[str] = []
    first = still_open = 0
    for number, line in enumerate(read_lines(path), start=1):
        if parts and (still_open <= 0 or line.startswith("(")):
            yield first, " ".join(parts)
            parts, still_open = [], 0
        if line.strip():
            first = first if parts else number
            parts.append(line)
            still_open += line.count("(") - line.count(")")
    if parts:
        yield first, " ".join(parts)


def read_tree_file(path: str | Path) -> Iterator[ConstituentTree | None]:
    """The trees of a file, whose `line` is their first one's number; None for `()`.

    Args:
        path: the file, plain or `.gz`.

    Raises:
        UserError: something is not one bracketed tree; the message names the file and line.
    """
    for number, text in tree_texts(path):
        yield parse_tree(text, str(path), number)
