"""Attention weights as shades, one panel a head; the entropy of heads."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch

from syntax_nmt.pictures.plots.style import (
    COLOUR_MAP,
    FONT_SIZE,
    axes_in_points,
    cell_size,
    figure_in_points,
    label_matrix,
    legend_below,
    mark_cell,
    picture_style,
    text_width,
    words_height,
)

GOLD = "reference"

_GAP, _CAPTION = 10.0, 18.0  # points between panels, and for the text below each
_BAR, _TALLEST_BAR = 8.0, 160.0
_ENTROPY_CELL, _ENTROPY_ROW = 32.0, 22.0
_WIDE = 1.7  # the wanted shape of many panels: width over height


@dataclass(frozen=True)
class Panel:
    """The weights of one head.

    Attributes:
        caption: what stands below.
        weights: rows attend to columns; each between 0 and 1.
        marked: cells to be framed, as (row, column).
    """

    caption: str
    weights: np.ndarray
    marked: frozenset[tuple[int, int]] = field(default_factory=frozenset)


def draw_attention(
    panels: Sequence[Panel],
    rows: Sequence[str],
    columns: Sequence[str],
    row_label: str = "",
    column_label: str = "",
    title: str = "",
) -> Figure:
    """Small multiples that share their words and their scale, which begins with 0.

    Args:
        panels: one or more.
        title: above all.
    """
    captions = [panel.caption for panel in panels]
    texts = [*rows, *columns, *captions, row_label, column_label, title]
    with picture_style(texts) as families:
        few = len(panels) == 1
        cell = cell_size(max(len(rows), len(columns)), wanted=360 if few else 170)
        width, height = cell * len(columns), cell * len(rows)
        widest = max(text_width(caption, FONT_SIZE, families) for caption in captions)
        pitch = max(width, widest) + _GAP, height + _CAPTION
        across = _across(len(panels), *pitch)
        down = -(-len(panels) // across)
        whole = across * pitch[0], down * pitch[1]
        figure = figure_in_points(*whole)
        figure.set_label(title or f"attention weights: {' '.join(columns)}")
        top = max((float(panel.weights.max(initial=0)) for panel in panels), default=0) or 1.0
        for index, panel in enumerate(panels):
            line, place = divmod(index, across)
            left, bottom = place * pitch[0], whole[1] - (line + 1) * pitch[1]
            axes = axes_in_points(figure, left, bottom + _CAPTION, width, height)
            label_matrix(axes, columns, rows, cell, grid=False)
            image = _shade(axes, panel, top, cell)
            axes.tick_params(labeltop=line == 0, labelleft=place == 0)
            if line == 0:
                axes.set_xlabel(column_label)
                axes.xaxis.set_label_position("top")
                axes.set_ylabel(row_label if place == 0 else "")
        _colour_bar(figure, image, whole)
        if any(panel.marked for panel in panels):
            frame = Patch(fill=False, edgecolor="black", linewidth=1, label=GOLD)
            legend_below(figure, [frame], handlelength=1, handleheight=1, borderaxespad=0)
        if title:
            above = words_height(columns, cell) + (16 if column_label else 4)
            figure.suptitle(title, y=1 + above / whole[1], va="bottom", fontsize=FONT_SIZE)
        return figure


def draw_entropy(
    bits: np.ndarray, even: float, about: str = "", title: str = "", room: float | None = None
) -> Figure:
    """The entropy of every head, a row for each layer, the top one above.

    Args:
        bits: layers × heads.
        even: that of even attention, the end of the scale.
        about: what was read.
        title: above all.
        room: the most that it may be wide, in points; None = any.
    """
    layers, heads = bits.shape
    with picture_style([about, title]):
        wide = _ENTROPY_CELL if room is None else min(_ENTROPY_CELL, (room - 90) / heads)
        width, height = wide * heads, _ENTROPY_ROW * layers
        figure = figure_in_points(width, height)
        figure.set_label(title or f"entropy of attention: {about}")
        axes = axes_in_points(figure, 0, 0, width, height)
        image = axes.imshow(bits, cmap=COLOUR_MAP, vmin=0, vmax=even, aspect="auto", origin="lower")
        for (layer, head), value in np.ndenumerate(bits):
            colour = "white" if value > even / 2 else "black"
            digits = 2 if wide >= 24 else 1
            axes.text(head, layer, f"{value:.{digits}f}", color=colour, ha="center", va="center")
        axes.set_xticks(range(heads))
        axes.set_yticks(range(layers))
        axes.tick_params(length=0)
        axes.set_xlabel(f"head\n{about}" if about else "head")
        axes.set_ylabel("layer")
        bar_axes = axes_in_points(figure, width + 6, 0, _BAR, height)
        bar = figure.colorbar(image, cax=bar_axes)
        bar.set_label("bits")
        if title:
            axes.set_title(title)
        return figure


def _shade(axes: Axes, panel: Panel, top: float, cell: float) -> AxesImage:
    """The weights, from white for 0 to black for `top`; frames; the caption."""
    image = axes.imshow(panel.weights, cmap=COLOUR_MAP, vmin=0, vmax=top, aspect="auto")
    for row, column in sorted(panel.marked):
        mark_cell(axes, column, row, False, GOLD, width=cell / 13)
    below = -4 / (cell * len(panel.weights))
    axes.text(0.5, below, panel.caption, transform=axes.transAxes, ha="center", va="top")
    return image


def _across(panels: int, width: float, height: float) -> int:
    """Arranges panels so that the whole is somewhat wider than high."""
    fewest = min(
        range(1, panels + 1),
        key=lambda n: abs(np.log(n * width / (-(-panels // n) * height) / _WIDE)),
    )
    rows = -(-panels // fewest)
    return -(-panels // rows)  # the last row as full as can be


def _colour_bar(figure: Figure, image: AxesImage, whole: tuple[float, float]) -> None:
    height = min(whole[1] - _CAPTION, _TALLEST_BAR)
    axes = axes_in_points(figure, whole[0] + 4, whole[1] - height, _BAR, height)
    bar = figure.colorbar(image, cax=axes)
    bar.set_label("attention weight")
    bar.ax.tick_params(labelsize=FONT_SIZE - 1.5)
