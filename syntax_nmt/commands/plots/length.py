"""`syntax-nmt plot length`: BLEU, or any other score, by length."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.json_figures import free_name, read_result

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

    from syntax_nmt.pictures.plots.group_curves import Group, Point
    from syntax_nmt.scoring.scores import Scores
    from syntax_nmt.scoring.translations.results import Score

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
    from syntax_nmt.pictures.plots.group_curves import Group, draw_curves, score_point
    from syntax_nmt.scoring.scores import Scores

    metric, settings, bars = args.metric, "", set()
    groups: list[Group] = []
    systems: dict[str, list[Point | None]] = {}
    for path in args.figures:
        found = read_result(path, Scores, _COMMAND)
        metric = _metric(path, found, metric)  # all files are asked for that of the first
        better = found.metrics[metric].higher_is_better
        settings = settings or _settings(found.metrics[metric].signature)
        if _settings(found.metrics[metric].signature) != settings:
            raise UserError(
                f"{path}: {metric} is {_settings(found.metrics[metric].signature)}, in "
                f"{args.figures[0]} {settings}: score all systems with the same options"
            )
        if found.by_length is None:
            raise UserError(
                f"{path}: has no scores by length: give {_COMMAND} the source text as --source"
            )
        tokens_of, bins = found.by_length.tokens_of, found.by_length.bins
        of_file = [Group(each.label, each.sentences) for each in bins]
        scores = [each.scores[metric] for each in bins]
        for name in scores[0]:
            points = [score_point(of_bin[name]) for of_bin in scores]
            systems[free_name(name, path, systems)] = points
        bars |= {bar for of_bin in scores for score in of_bin.values() if (bar := _bar(score))}
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


def _settings(signature: str) -> str:
    """A signature without what intervals are made of."""
    parts = signature.split("|")
    return "|".join(part for part in parts if not part.startswith(("bs:", "seed:")))


def _bar(score: Score) -> str | None:
    """What the bar of a score is."""
    if score.interval is not None:
        return "95 % intervals"
    return None if score.spread is None else "standard deviation over runs"


def _metric(path: str, scores: Scores, wanted: str | None) -> str:
    """The metric's name in the figures: `chrf`, as `syntax-nmt score` takes it, is chrF2 there."""
    there = list(scores.metrics)
    if wanted is None:
        return there[0]
    for name in there:
        if wanted.casefold() in (name.casefold(), name.casefold().rstrip("0123456789+")):
            return name
    raise UserError(f"--metric {wanted}: {path} has {', '.join(there)}")
