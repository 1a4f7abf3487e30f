"""Words at the sides of a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes

from syntax_nmt.pictures.plots.style import FONT_SIZE, text_width


def label_matrix(
    axes: Axes, columns: Sequence[str], rows: Sequence[str], cell: float, grid: bool = True
) -> None:
    """Writes words above the columns and left of the rows, row 0 on top.

    Words above stand upright where they are too wide for their columns.

    Args:
        axes: of the matrix; cell (column, row) is centred there and 1 wide.
        columns: a word each; none = no words above.
        rows: a word each; none = no words on the left.
        cell: the side of a cell in points.
        grid: thin lines between cells.
    """
    size, widest = _size_and_width(columns, cell)
    upright = widest > cell - 1
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns, rotation=90 if upright else 0, fontsize=size)
    axes.set_yticks(range(len(rows)), rows, fontsize=size)
    axes.tick_params(length=0, pad=2)
    if grid:
        axes.set_xticks([column - 0.5 for column in range(1, len(columns))], minor=True)
        axes.set_yticks([row - 0.5 for row in range(1, len(rows))], minor=True)
        axes.grid(which="minor", color="0.85", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.tick_params(which="minor", length=0)


def words_height(columns: Sequence[str], cell: float) -> float:
    """The room that the words above take, in points.

    Args:
        columns: a word each.
        cell: the side of a cell in points.
    """
    size, widest = _size_and_width(columns, cell)
    return (widest if widest > cell - 1 else size) + 4


def _size_and_width(columns: Sequence[str], cell: float) -> tuple[float, float]:
    """The size of letters, and the width of the widest word above."""
    size = min(FONT_SIZE, 0.82 * cell)
    families = list(mpl.rcParams["font.family"])
    return size, max((text_width(word, size, families) for word in columns), default=0.0)
