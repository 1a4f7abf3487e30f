"""`syntax-nmt plot contrast`: accuracy on contrastive pairs by distance, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.json_figures import free_name, read_result

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

    from syntax_nmt.pictures.plots.group_curves import Point
    from syntax_nmt.scoring.contrast.contrast_report import ModelAccuracy

_COMMAND = "syntax-nmt contrast"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "figures",
        metavar="JSON",
        nargs="+",
        help="what `syntax-nmt contrast --json` wrote; the models of all files get a curve each",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, are of other pairs, or have no distances.
    """
    from syntax_nmt.pictures.plots.group_curves import Group, draw_curves
    from syntax_nmt.scoring.contrast.contrast_report import Contrast

    models: dict[str, dict[int, Point]] = {}
    labels: dict[int, str] = {}
    pairs: dict[int, int] = {}
    every: int | None = None
    for path in args.figures:
        found = read_result(path, Contrast, _COMMAND)
        every = found.pairs if every is None else every
        if found.pairs != every:
            raise UserError(
                f"{path}: {found.pairs} pairs, {args.figures[0]} {every}: measure all models on "
                "the same pairs"
            )
        for model in found.models:
            models[free_name(model.name, path, models)] = _points(model)
            for part in model.by_distance:
                if labels.setdefault(part.least, part.distance) != part.distance:
                    raise UserError(
                        f"{path}: distance {part.distance} where another file has "
                        f"{labels[part.least]}: measure all models with the same --bins"
                    )
                pairs[part.least] = max(pairs.get(part.least, 0), part.total)
    if not labels:
        raise UserError(
            f"{args.figures[0]}: has no accuracy by distance: give {_COMMAND} the pairs' --distance"
        )
    order = sorted(labels)
    return draw_curves(
        [Group(labels[least], pairs[least]) for least in order],
        {name: [points.get(least) for least in order] for name, points in models.items()},
        "distance in words\n(bars: 95 % intervals, Wilson)",
        "accuracy (%)",
        args.title,
        args.room,
    )


def _points(model: ModelAccuracy) -> dict[int, Point]:
    """The accuracies by the least distance of each group."""
    from syntax_nmt.pictures.plots.group_curves import Point

    return {
        part.least: Point(part.accuracy, part.interval.low, part.interval.high)
        for part in model.by_distance
        if part.accuracy is not None
    }
