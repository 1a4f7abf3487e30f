"""A word alignment as a matrix: links are filled cells, gold links frames."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from syntax_nmt.pictures.plots.style import (
    LINK,
    axes_in_points,
    cell_size,
    figure_in_points,
    label_matrix,
    legend_below,
    mark_cell,
    picture_style,
)
from syntax_nmt.scoring.alignments.alignment import Alignment, GoldAlignment
from syntax_nmt.text.joints import plain_hyphens

SURE, POSSIBLE, FOUND = "sure (reference)", "possible (reference)", "link"


def draw_alignment(
    source: Sequence[str],
    target: Sequence[str],
    links: Alignment | None,
    gold: GoldAlignment | None = None,
    title: str = "",
) -> Figure:
    """Columns are source words, rows target words.

    Sure gold links are solid frames, possible ones dashed.

    Args:
        links: an alignment; links outside the sentences are left out. None = only gold links.
        gold: what annotators say; None = there is none.
        title: above the matrix.
    """
    source, target = plain_hyphens(source), plain_hyphens(target)
    with picture_style([*source, *target, title]):
        cell = cell_size(max(len(source), len(target)))
        width, height = cell * len(source), cell * len(target)
        figure = figure_in_points(width, height)
        figure.set_label(title or "word alignment")
        axes = axes_in_points(figure, 0, 0, max(width, 1), max(height, 1))
        label_matrix(axes, source, target, cell)
        axes.set_title(title, pad=6)
        handles = _draw_links(axes, _inside(links, source, target))
        handles += _draw_gold(axes, gold, source, target)
        _legend(axes, handles, cell, height)
        return figure


def _inside(links: Alignment | None, source: Sequence[str], target: Sequence[str]) -> Alignment:
    return frozenset(
        link for link in links or () if link[0] < len(source) and link[1] < len(target)
    )


def _draw_links(axes: Axes, links: Alignment) -> list[Artist]:
    for column, row in sorted(links):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, color=LINK, label=FOUND))
    return [Patch(color=LINK, label=FOUND)] if links else []


def _draw_gold(
    axes: Axes, gold: GoldAlignment | None, source: Sequence[str], target: Sequence[str]
) -> list[Artist]:
    if gold is None:
        return []
    sure = _inside(gold.sure, source, target)
    possible = _inside(gold.possible, source, target) - sure
    for links, label in ((possible, POSSIBLE), (sure, SURE)):
        for column, row in sorted(links):
            mark_cell(axes, column, row, dashed=label == POSSIBLE, label=label)
    handles: list[Artist] = []
    if sure:
        handles.append(Patch(fill=False, edgecolor="black", linewidth=1.2, label=SURE))
    if possible:
        dashes: dict[str, Any] = {"linestyle": (0, (2, 1.4)), "linewidth": 1.2}
        handles.append(Patch(fill=False, edgecolor="black", label=POSSIBLE, **dashes))
    return handles


def _legend(axes: Axes, handles: list[Artist], cell: float, height: float) -> None:
    if handles:
        below = -0.5 * cell / max(height, 1)
        frame = {"borderaxespad": 0, "handlelength": 1.2, "handleheight": 1.2}
        legend_below(axes, handles, bbox_to_anchor=(0, below), **frame)
