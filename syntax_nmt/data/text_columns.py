"""Text for a terminal: labelled lists, numbers as cells."""

import math
from collections.abc import Sequence

from syntax_nmt.errors import printable

NO_FIGURE = "–"
_WIDTH = 100


def labelled(label: str, parts: Sequence[str]) -> list[str]:
    """A label and a list of parts, wrapped to lines."""
    from wcwidth import wcswidth

    margin = max(8, wcswidth(label)) + 2
    lines = [label + " " * (margin - wcswidth(label))]
    for part in map(printable, parts):
        if len(lines[-1]) > margin and wcswidth(lines[-1]) + wcswidth(part) > _WIDTH - 2:
            lines.append(" " * margin)
        lines[-1] += part + " "
    return [f"  {line.rstrip()}" for line in lines]


def share_text(share: float | None) -> str:
    """A share between 0 and 1 with two digits; never rounded to 0 or 1."""
    if share is None:
        return NO_FIGURE
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    return f"{share:.2%}" if 0 < share < 1 else f"{share:.0%}"


def counted(number: int, one: str) -> str:
    """`1 line`, `1,200 lines`.

    Args:
        one: the noun in the singular, whose plural has an s.
    """
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def count_text(value: int | None) -> str:
    """A whole number, its thousands separated."""
    return NO_FIGURE if value is None else f"{value:,}"


def decimal_text(value: float | None, digits: int = 2) -> str:
    """A number with this number of digits after the point; None and NaN = there is none."""
    return NO_FIGURE if value is None or math.isnan(value) else f"{value:.{digits}f}"
