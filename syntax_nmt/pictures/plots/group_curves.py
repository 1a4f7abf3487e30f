"""Figures of several systems over groups of sentences, such as BLEU by length, as curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from syntax_nmt.pictures.plots.style import (
    FONT_SIZE,
    axes_in_points,
    figure_in_points,
    legend_above,
    look_of_system,
    picture_style,
    plain_axes,
    widest,
)
from syntax_nmt.scoring.translations.results import Score

_HEIGHT, _GROUP, _NARROWEST = 190.0, 62.0, 250.0  # points
_SAMPLE = 30.0  # points of a line in the legend
_FEW = 10  # a line through fewer sentences would show chance
_AXIS = 40.0  # points of the numbers and the name left of the curves
_BESIDE = 0.05  # so that intervals of several systems do not hide each other
_SPREAD = 0.8  # of all systems, where there are many


@dataclass(frozen=True)
class Point:
    """One figure of one system.

    Attributes:
        value: the figure.
        low: the lower end of its interval; None = there is no interval.
        high: the upper end.
    """

    value: float
    low: float | None = None
    high: float | None = None


def score_point(score: Score) -> Point | None:
    """A score with its interval, or else with the spread of its runs; None where there is none."""
    value, interval = score.score, score.interval
    if value is None:
        return None
    if interval is not None:
        return Point(value, interval.low, interval.high)
    if score.spread is None:
        return Point(value)
    return Point(value, value - score.spread, value + score.spread)


@dataclass(frozen=True)
class Group:
    """Sentences that are taken together.

    Attributes:
        label: such as `15–29`.
        size: how many they are.
    """

    label: str
    size: int


def draw_curves(
    groups: Sequence[Group],
    systems: Mapping[str, Sequence[Point | None]],
    x_label: str,
    y_label: str,
    title: str = "",
    room: float | None = None,
) -> Figure:
    """One curve a system, told apart by dashes and markers; intervals are error bars.

    Groups of fewer than ten stand by themselves: no line goes through them.

    Args:
        groups: in the order of the axis.
        systems: for each system's name its figure in each group, None where there is none.
        x_label: what the groups are.
        y_label: what the figures are.
        title: above the curves.
        room: the most that it may be wide, in points; None = any.
    """
    labels = [f"{group.label}\nn = {group.size}" for group in groups]
    joined = [group.size >= _FEW for group in groups]
    with picture_style([*systems, *labels, x_label, y_label, title]) as families:
        lines = [line for label in labels for line in label.split("\n")]
        pitch = max(_GROUP, widest(lines, families) + 10)
        width = max(_NARROWEST, len(groups) * pitch)
        if room is not None:
            narrowest = len(groups) * (widest(lines, families) + 6)
            width = min(width, max(room - _AXIS, narrowest))
        figure = figure_in_points(width, _HEIGHT)
        figure.set_label(title or f"{y_label} by {x_label}")
        axes = axes_in_points(figure, 0, 0, width, _HEIGHT)
        beside = min(_BESIDE, _SPREAD / len(systems)) if systems else 0.0
        curves = []
        for index, (name, points) in enumerate(systems.items()):
            shift = (index - (len(systems) - 1) / 2) * beside
            curves.append(_draw_curve(axes, name, points, index, shift, joined))
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.set_xticks(range(len(groups)), labels)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        plain_axes(axes)
        above = legend_above(
            axes, curves, width, widest(systems, families) + _SAMPLE + 20,
            bbox_to_anchor=(0, 1.02), handlelength=_SAMPLE / (FONT_SIZE - 1),
        )  # fmt: skip
        axes.set_title(title, pad=above + 6)
        return figure


def _draw_curve(
    axes: Axes,
    name: str,
    points: Sequence[Point | None],
    index: int,
    shift: float,
    joined: Sequence[bool],
) -> Line2D:
    """Draws a system's points; its line, for the legend."""
    there = [(place, point) for place, point in enumerate(points) if point is not None]
    values = [float("nan") if point is None else point.value for point in points]
    look = look_of_system(index)
    places = [place + shift for place in range(len(points))]
    lines = [value if join else float("nan") for value, join in zip(values, joined)]
    (drawn,) = axes.plot(places, lines, label=name, markersize=4.5, linewidth=1.2, **look)
    alone = [(x, y) for x, y, join in zip(places, values, joined) if not join]
    if alone:
        axes.plot(*zip(*alone), markersize=4.5, **{**look, "linestyle": ""})
    bars = [
        (place + shift, (point.low + point.high) / 2, (point.high - point.low) / 2)
        for place, point in there
        if point.low is not None and point.high is not None
    ]
    if bars:  # about their own middle: an interval of few sentences need not hold the score
        x, middle, half = zip(*bars)
        axes.errorbar(
            x, middle, yerr=half, linestyle="", color=look["color"], capsize=2.5,
            elinewidth=0.8, capthick=0.8,
        )  # fmt: skip
    return drawn
