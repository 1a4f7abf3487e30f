"""Figures of several systems over groups of words, as dots in rows, with intervals."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from syntax_nmt.pictures.plots.group_curves import Group, Point
from syntax_nmt.pictures.plots.style import (
    axes_in_points,
    figure_in_points,
    legend_above,
    look_of_system,
    picture_style,
    widest,
)

_WIDTH, _NARROWEST = 260.0, 120.0  # of the axis, in points
_ROW, _SYSTEM = 8.0, 8.0  # points of a row, and more for each system
_GAP = 8.0  # between labels and axis
_SAMPLE = 30.0  # points of a marker in the legend


def draw_dots(
    groups: Sequence[Group],
    systems: Mapping[str, Sequence[Point | None]],
    x_label: str,
    title: str = "",
    room: float | None = None,
    zero: bool = False,
) -> Figure:
    """A row for each group, a marker for each system; intervals are bars.

    Args:
        groups: one below the other, the first on top.
        systems: for each system's name its figure in each group, None where there is none.
        x_label: what the figures are.
        title: above the rows.
        room: the most that it may be wide, in points; None = any.
        zero: draw a line at 0, of differences.
    """
    labels = [f"{group.label} ({group.size:,})" for group in groups]
    pitch = _ROW + _SYSTEM * len(systems)
    with picture_style([*systems, *labels, x_label, title]) as families:
        left = widest(labels, families) + _GAP
        width = _WIDTH if room is None else max(_NARROWEST, min(_WIDTH, room - left))
        height = pitch * max(1, len(groups))
        figure = figure_in_points(left + width, height)
        figure.set_label(title or x_label)
        axes = axes_in_points(figure, left, 0, width, height)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_yticks(range(len(groups)), labels)
        axes.tick_params(axis="y", length=0)
        if zero:
            axes.axvline(0, color="0.3", linewidth=0.6)
        markers = []
        for index, (name, points) in enumerate(systems.items()):
            shift = (index - (len(systems) - 1) / 2) * _SYSTEM / pitch
            markers.append(_draw_system(axes, name, points, index, shift))
        axes.set_xlabel(x_label)
        axes.grid(axis="x", color="0.88", linewidth=0.5)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        above = legend_above(
            axes, markers, width, widest(systems, families) + _SAMPLE,
            bbox_to_anchor=(0, 1.01), handletextpad=0.2,
        )  # fmt: skip
        axes.set_title(title, pad=above + 6)
        return figure


def _draw_system(
    axes: Axes, name: str, points: Sequence[Point | None], index: int, shift: float
) -> Line2D:
    """Draws a system's dots and bars; its marker, for the legend."""
    look = {**look_of_system(index), "linestyle": ""}
    there = [(row + shift, point) for row, point in enumerate(points) if point is not None]
    x, y = [point.value for _, point in there], [place for place, _ in there]
    (drawn,) = axes.plot(x, y, label=name, markersize=4.5, **look)
    for place, point in there:
        if point.low is not None and point.high is not None:
            axes.plot([point.low, point.high], [place, place], color=look["color"], linewidth=1.0)
    return drawn
