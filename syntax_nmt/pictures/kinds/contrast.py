"""`syntax-nmt plot contrast`: accuracy on contrastive pairs by distance, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.json_figures import CONTRAST, contrast_models, free_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "figures",
        metavar="JSON",
        nargs="+",
        help="what `syntax-nmt contrast --json` wrote; the models of all files get a curve each",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws what the command line asks for.

    Raises:
        UserError: files cannot be used, or have no distances.
    """
    from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves

    models: dict[str, dict[int, Point]] = {}
    labels: dict[int, str] = {}
    pairs: dict[int, int] = {}
    for path in args.figures:
        for model, figures in contrast_models(path).items():
            name = free_name(model, path, models)
            parts = {int(part["least"]): part for part in figures["by_distance"]}
            models[name] = {
                least: Point(part["accuracy"], **part["interval"])
                for least, part in parts.items()
                if part["total"]
            }
            for least, part in parts.items():
                if labels.setdefault(least, str(part["distance"])) != str(part["distance"]):
                    raise UserError(
                        f"{path}: distance {part['distance']} where another file has "
                        f"{labels[least]}: measure all models with the same --bins"
                    )
                pairs[least] = max(pairs.get(least, 0), part["total"])
    if not labels:
        raise UserError(
            f"{args.figures[0]}: has no accuracy by distance: give {CONTRAST} the pairs' --distance"
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
