"""A loss or an accuracy in the course of trainings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator

from syntax_nmt.pictures.plots.style import (
    axes_in_points,
    figure_in_points,
    look_of_system,
    picture_style,
    plain_axes,
)

TRAINING, VALIDATION = "training", "validation"

_WIDTH, _HEIGHT = 250.0, 190.0  # points
_MARKERS = 8  # on a curve; more would hide it

Curve = Sequence[tuple[float, float]]
"""Numbers of updates and values."""


@dataclass(frozen=True)
class TrainingRun:
    """One quantity of one training.

    Attributes:
        training: on the data that is trained on; may be empty.
        validation: on other data; may be empty.
    """

    training: Curve
    validation: Curve


def draw_training(systems: Mapping[str, Sequence[TrainingRun]], y_label: str) -> Figure:
    """Thick curves with markers are about validation, thin ones about training, if both are there.

    Systems are told apart by dashes and markers; several runs of one look the same.

    Args:
        y_label: what the values are.
    """
    with picture_style([*systems, y_label]):
        figure = figure_in_points(_WIDTH, _HEIGHT)
        figure.set_label(f"{y_label} by updates")
        axes = axes_in_points(figure, 0, 0, _WIDTH, _HEIGHT)
        handles: list[Line2D] = []
        validated = any(run.validation for runs in systems.values() for run in runs)
        for index, (name, runs) in enumerate(systems.items()):
            look = look_of_system(index)
            for run in runs:
                _draw_run(axes, run, look, alone=not validated)
            if len(systems) > 1 and any(run.training or run.validation for run in runs):
                handles.append(Line2D([], [], label=name, markersize=4.5, linewidth=1.2, **look))
        axes.set_ylabel(y_label)
        axes.set_xlabel("updates")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        plain_axes(axes)
        _legend(axes, handles, [run for runs in systems.values() for run in runs])
        return figure


def _draw_run(axes: Axes, run: TrainingRun, look: dict[str, Any], alone: bool) -> None:
    """Curves of training look like those of validation where they are alone."""
    thin = {key: look[key] for key in ("color", "linestyle")} | {"linewidth": 0.6}
    thick = {**look, "linewidth": 1.4, "markersize": 4.5}
    if run.training:
        _draw(axes, run.training, TRAINING, thick if alone else thin)
    if run.validation:
        _draw(axes, run.validation, VALIDATION, thick)


def _draw(axes: Axes, curve: Curve, label: str, look: dict[str, Any]) -> None:
    updates, values = zip(*curve)
    every = max(1, len(curve) // _MARKERS)
    axes.plot(updates, values, label=label, markevery=every, **look)


def _legend(axes: Axes, systems: list[Line2D], runs: list[TrainingRun]) -> None:
    """Names the systems, and the kinds of curves where both are there."""
    handles = systems
    if any(run.training for run in runs) and any(run.validation for run in runs):
        style: dict[str, Any] = {"color": "0.4", "markersize": 4.5}
        handles = [
            *handles,
            Line2D([], [], label=VALIDATION, linewidth=1.4, marker="o", **style),
            Line2D([], [], label=TRAINING, linewidth=0.6, **style),
        ]
    if handles:
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1.02), frameon=False,
            handlelength=3.5, borderaxespad=0, ncols=2,
        )  # fmt: skip
