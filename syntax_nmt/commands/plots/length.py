"""`syntax-nmt plot length`: BLEU, or any other score, by length."""

import argparse
import re
from typing import Any

from matplotlib.figure import Figure

from syntax_nmt.errors import UserError
from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves, score_point
from syntax_nmt.scoring.json_figures import free_name, other_file, read_figures

_COMMAND = "syntax-nmt score"
_FOLDERS = re.compile(r"\S*/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add(
        "figures",
        metavar="JSON",
        nargs="+",
        help="what `syntax-nmt score --json` wrote; the systems of all files get a curve each",
    )
    add(
        "--metric",
        metavar="NAME",
        help="the score, such as BLEU or chrF (default: the file's first)",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, or do not go together.
    """
    metric, bars = args.metric, set()
    groups: list[Group] = []
    systems: dict[str, list[Point | None]] = {}
    for path in args.figures:
        figures = read_figures(path, _COMMAND)
        try:
            metric = _metric(path, figures, metric)  # all files are asked for that of the first
            better = figures["metrics"][metric]["higher_is_better"]
            bins, tokens_of = _bins(path, figures), figures["by_length"]["tokens_of"]
            of_file = [Group(each["label"], each["sentences"]) for each in bins]
            scores = [each["scores"][metric] for each in bins]
            for name in scores[0]:
                points = [score_point(of_bin[name]) for of_bin in scores]
                systems[free_name(name, path, systems)] = points
            bars |= {bar for of_bin in scores for score in of_bin.values() if (bar := _bar(score))}
        except (KeyError, TypeError, IndexError):
            raise other_file(path, _COMMAND) from None
        groups = groups or of_file
        if of_file != groups:
            raise UserError(
                f"{path}: other lengths or sentences than in {args.figures[0]}: score the same "
                f"test set with the same --bins"
            )
    x_label = f"length in tokens of {_FOLDERS.sub('', tokens_of)}"
    if bars:
        x_label += f"\n(bars: {' or '.join(sorted(bars))})"
    y_label = metric if better else f"{metric} (lower is better)"
    return draw_curves(groups, systems, x_label, y_label, args.title, args.room)


def _bar(score: dict[str, Any]) -> str | None:
    """The labels of a score."""
    if score["interval"]:
        return "95 % intervals"
    return None if score["spread"] is None else "standard deviation over runs"


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
