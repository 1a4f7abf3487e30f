"""Files that are parallel: a line of each belongs to the same sentence."""

from __future__ import annotations

from pathlib import Path

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError


def check_parallel(path: str, count: int, other: str, others: int, unit: str = "lines") -> None:
    """Refuses a file that is not parallel to another.

    Args:
        unit: what is counted.

    Raises:
        UserError: the numbers differ.
    """
    if count != others:
        raise UserError(f"{path} has {count} {unit}, {other} {others}: give parallel files")


def read_parallel(*paths: str | Path) -> list[list[str]]:
    """The lines of each file.

    Raises:
        UserError: a file cannot be read, or has another number of lines than the first.
    """
    columns = [list(read_lines(path)) for path in paths]
    for path, column in zip(paths, columns):
        check_parallel(str(path), len(column), str(paths[0]), len(columns[0]))
    return columns
