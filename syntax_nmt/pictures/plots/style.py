"""What all pictures share: letters, lines that differ without colour, boxes, and axes in points."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from syntax_nmt.pictures.plots.fonts import families_for

POINTS = 72  # of an inch
FONT_SIZE = 9.0
SMALL = 7.0
COLOUR_MAP = "magma_r"  # perceptually uniform, light to dark
LINK = "0.35"  # grey of a filled cell
AGREES, DIFFERS = "as in the reference", "not in the reference"  # labels of legends

# Told apart by dashes and markers; the colours only help (Okabe and Ito's, dark enough on white).
LINES: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "linestyle": "-", "marker": "o"},
    {"color": "#0072b2", "linestyle": "--", "marker": "s"},
    {"color": "#d55e00", "linestyle": "-.", "marker": "^"},
    {"color": "#009e73", "linestyle": ":", "marker": "D"},
    {"color": "#cc79a7", "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "v"},
    {"color": "#56606a", "linestyle": (0, (1, 1)), "marker": "X"},
)

_SETTINGS: dict[str, Any] = {
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "legend.fontsize": FONT_SIZE - 1,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "text.parse_math": False,  # a dollar is a dollar
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "syntax_nmt",  # the same picture is the same file
    "pdf.fonttype": 42,
}


def look_of_system(index: int) -> dict[str, Any]:
    """The line and the markers of a system, told from 71 others.

    The seventh has the first one's with hollow markers, the thirteenth its line with the markers of
    the second, and so on.
    """
    again, line = divmod(index, len(LINES))
    marker = LINES[(line + again // 2) % len(LINES)]["marker"]
    hollow = {"markerfacecolor": "white"} if again % 2 else {}
    return {**LINES[line], "marker": marker, **hollow}


def plain_axes(axes: Axes) -> None:
    """Few numbers on the left, thin lines behind the curves, no frame above and on the right."""
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
    axes.grid(axis="y", color="0.88", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


@contextmanager
def picture_style(texts: Iterable[str]) -> Iterator[list[str]]:
    """matplotlib's settings for a picture, only within the context.

    Args:
        texts: what will be written in it.

    Yields:
        the font families that have its letters.
    """
    families = families_for(texts)
    with (
        style.context(["default", {**_SETTINGS, "font.family": families}]),
        warnings.catch_warnings(),
    ):
        # The caller reports in one line which letters no font has.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from font")
        yield families


def text_width(text: str, size: float, families: list[str]) -> float:
    """How wide a text is, in points.

    Args:
        text: one line.
        size: of its letters, in points.
    """
    if not text:
        return 0.0
    scale = 10  # whole pixels are too coarse
    renderer = RendererAgg(1, 1, POINTS * scale)
    font = FontProperties(family=families, size=size)
    width, _, _ = renderer.get_text_width_height_descent(text, font, ismath=False)
    return width / scale


def widest(texts: Iterable[str], families: list[str], size: float = FONT_SIZE) -> float:
    """How wide the widest of some texts is, in points."""
    return max((text_width(text, size, families) for text in texts), default=0.0)


def figure_in_points(width: float, height: float) -> Figure:
    """An empty figure; content beyond its edges is kept when it is written."""
    return Figure(figsize=(max(width, 1) / POINTS, max(height, 1) / POINTS))


def axes_in_points(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place of a figure.

    Args:
        figure: from :func:`figure_in_points`.
        left: in points, as all that follows.
        bottom: from the figure's lower edge.
        width: without labels.
        height: without labels.
    """
    whole = figure.get_size_inches() * POINTS
    return figure.add_axes(
        (left / whole[0], bottom / whole[1], width / whole[0], height / whole[1])
    )


def blank_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure whose coordinates are points from its lower left corner, without an axis."""
    figure = figure_in_points(width, height)
    axes = axes_in_points(figure, 0, 0, max(width, 1), max(height, 1))
    axes.set_xlim(0, max(width, 1))
    axes.set_ylim(0, max(height, 1))
    axes.set_axis_off()
    return figure, axes


def legend_below(where: Axes | Figure, handles: Sequence[Artist], **look: Any) -> None:
    """Names what is drawn, side by side below the left end of a picture.

    Args:
        **look: of the legend, for matplotlib.
    """
    usual = {"bbox_to_anchor": (0, 0), "ncols": len(handles), "frameon": False}
    where.legend(handles=handles, loc="upper left", **{**usual, **look})


def legend_above(
    axes: Axes, lines: Sequence[Line2D], width: float, name_width: float, **look: Any
) -> float:
    """Names the lines of systems above a picture, as many side by side as fit.

    Args:
        width: of the picture, in points.
        name_width: of a name and its sample, in points.
        **look: of the legend, for matplotlib.

    Returns:
        how high the names are, in points.
    """
    names = [str(line.get_label()) for line in lines]
    across = max(1, min(len(names), int(width // name_width)))
    look |= {"loc": "lower left", "ncols": across, "frameon": False, "borderaxespad": 0}
    axes.legend(handles=lines, labels=names, **look)
    return 4 + 14.0 * -(-len(names) // across)


def mark_cell(
    axes: Axes, column: int, row: int, dashed: bool, label: str, width: float = 1.2
) -> None:
    """Frames a cell of a matrix so that it shows on light cells and dark ones.

    Args:
        axes: whose cell (column, row) is centred there and 1 wide.
        dashed: the line's style.
        label: of the frame, to find it by.
        width: of the line in points.
    """
    place, size = (column - 0.44, row - 0.44), 0.88
    around = Rectangle(place, size, size, fill=False, edgecolor="white", linewidth=width + 1.4)
    frame = Rectangle(place, size, size, fill=False, edgecolor="black", linewidth=width)
    frame.set_linestyle((0, (2, 1.4)) if dashed else "-")
    frame.set_label(label)
    for depth, each in enumerate((around, frame), start=2):  # no neighbour covers the black
        each.set_zorder(depth)
        axes.add_patch(each)


def cell_size(longest: int, wanted: float = 360.0) -> float:
    """The side of a matrix' cells in points: smaller for longer sentences.

    Args:
        longest: cells of the longer side.
        wanted: the side of the matrix, if it can be.
    """
    return min(16.0, max(9.0, wanted / max(longest, 1)))  # smaller words would not be readable


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
    return size, widest(columns, families, size)
