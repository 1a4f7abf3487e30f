"""`syntax-nmt plot contrast`: accuracy on contrastive pairs by distance, with intervals."""

import argparse
from typing import Any

from matplotlib.figure import Figure

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves
from syntax_nmt.scoring.json_figures import free_name, other_file, read_figures

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
        UserError: files cannot be used, or have no distances.
    """
    models: dict[str, dict[int, Point]] = {}
    labels: dict[int, str] = {}
    pairs: dict[int, int] = {}
    for path in args.figures:
        figures = read_figures(path, _COMMAND)
        try:
            for model in figures["models"]:
                models[free_name(model["name"], path, models)] = _points(model)
                for part in model["by_distance"]:
                    least, label = part["least"], part["distance"]
                    if labels.setdefault(least, label) != label:
                        raise UserError(
                            f"{path}: distance {label} where another file has {labels[least]}: "
                            "measure all models with the same --bins"
                        )
                    pairs[least] = max(pairs.get(least, 0), part["total"])
        except (KeyError, TypeError):
            raise other_file(path, _COMMAND) from None
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


def _points(model: dict[str, Any]) -> dict[int, Point]:
    """The accuracies by the least distance of each group."""
    return {
        part["least"]: Point(part["accuracy"], **part["interval"]) for part in model["by_distance"]
    }
