"""`syntax-nmt plot length`: BLEU, or any other score, by length."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.plots.kinds.json_figures import free_name, other_file, read_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syntax_nmt.evaluation.plots.group_curves import Point

SUMMARY = "BLEU, or any other score, by length, for several systems"

EXAMPLE = "syntax-nmt plot length scores.json --metric BLEU --output length.svg"

_COMMAND = "syntax-nmt score"
_FOLDERS = re.compile(r"\S*/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options.

    Args:
        parser: of the kind of picture.
    """
    add = parser.add_argument
    add(
        "figures",
        metavar="JSON",
        nargs="+",
        help="what `syntax-nmt score --json` wrote; the systems of all files get a curve each",
    )
    add("--metric", metavar="NAME", help="such as BLEU or chrF (default: the file's first)")


def inputs(args: argparse.Namespace) -> list[str | None]:
    """The files that are read.

    Args:
        args: of the command.
    """
    return [*args.figures]


def figure(args: argparse.Namespace) -> Figure:
    """Draws what the command line asks for.

    Args:
        args: as :func:`add_arguments` defines them.

    Raises:
        UserError: files cannot be used, or do not go together.
    """
    from syntax_nmt.evaluation.plots.group_curves import Group, draw_curves

    files = {path: read_figures(path, _COMMAND) for path in args.figures}
    first = next(iter(files))
    groups: list[Group] | None = None
    systems: dict[str, list[Point | None]] = {}
    spread = False
    for path, figures in files.items():
        try:
            metric = _metric(path, figures, args.metric)
            bins = _bins(path, figures)
            found = [Group(str(each["label"]), int(each["sentences"])) for each in bins]
            for name in bins[0]["scores"][metric]:
                points = [_point(each["scores"][metric][name]) for each in bins]
                systems[free_name(name, path, systems)] = points
                spread |= any(point is not None and point.low is not None for point in points)
            higher = figures["metrics"][metric]["higher_is_better"]
            tokens_of = figures["by_length"]["tokens_of"]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration):
            raise other_file(path, _COMMAND) from None
        if groups is not None and found != groups:
            raise UserError(
                f"{path}: other lengths or sentences than in {first}: score the same test set "
                f"with the same --bins"
            )
        groups = found
    x_label = f"length in tokens of {_FOLDERS.sub('', tokens_of)}"
    if spread:
        x_label += "\n(bars: standard deviation over runs)"
    y_label = metric if higher else f"{metric} (lower is better)"
    return draw_curves(groups or [], systems, x_label, y_label, args.title)


def _metric(path: str, figures: dict[str, Any], wanted: str | None) -> str:
    """The metric's name in the figures: `chrf`, as `syntax-nmt score` takes it, is chrF2 there."""
    there = list(figures["metrics"])
    if wanted is None:
        return there[0]
    for name in there:
        if wanted.casefold() in (name.casefold(), name.casefold().rstrip("0123456789+")):
            return name
    raise UserError(f"--metric {wanted}: {path} has {', '.join(there)}")


def _bins(path: str, figures: dict[str, Any]) -> list[dict[str, Any]]:
    if "by_length" not in figures:
        raise UserError(
            f"{path}: has no scores by length: give {_COMMAND} the source text as --source"
        )
    return figures["by_length"]["bins"]


def _point(score: dict[str, Any]) -> Point | None:
    from syntax_nmt.evaluation.plots.group_curves import Point

    value, spread = score["score"], score["spread"]
    if value is None:
        return None
    if spread is None:
        return Point(float(value))
    return Point(float(value), value - spread, value + spread)
