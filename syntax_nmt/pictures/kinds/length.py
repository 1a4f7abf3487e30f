"""`syntax-nmt plot length`: BLEU, or any other score, by length."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.json_figures import free_name, other_file, read_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from syntax_nmt.pictures.plots.group_curves import Group, Point

_COMMAND = "syntax-nmt score"
_BARS = {"interval": "95 % intervals", "spread": "standard deviation over runs"}
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
    """Draws what the command line asks for.

    Raises:
        UserError: files cannot be used, or do not go together.
    """
    from syntax_nmt.pictures.plots.group_curves import draw_curves

    files: list[_Scores] = []
    for path in args.figures:
        # All files are asked for the metric of the first.
        files.append(_scores(path, files[0].metric if files else args.metric))
        if files[-1].groups != files[0].groups:
            raise UserError(
                f"{path}: other lengths or sentences than in {args.figures[0]}: score the same "
                f"test set with the same --bins"
            )
    systems: dict[str, Sequence[Point | None]] = {}
    for path, scores in zip(args.figures, files):
        for name, points in scores.systems.items():
            systems[free_name(name, path, systems)] = points
    first = files[0]
    x_label = f"length in tokens of {_FOLDERS.sub('', first.tokens_of)}"
    if any(scores.bars for scores in files):
        x_label += f"\n(bars: {' or '.join(sorted({bar for each in files for bar in each.bars}))})"
    y_label = first.metric if first.higher_is_better else f"{first.metric} (lower is better)"
    return draw_curves(first.groups, systems, x_label, y_label, args.title, args.room)


@dataclass(frozen=True)
class _Scores:
    """What a file says of one metric; `tokens_of` is the text whose lengths count, `bars` what
    stands around scores."""

    metric: str
    higher_is_better: bool
    tokens_of: str
    groups: list[Group]
    systems: dict[str, list[Point | None]]
    bars: set[str]


def _scores(path: str, wanted: str | None) -> _Scores:
    from syntax_nmt.pictures.plots.group_curves import Group, score_point

    figures = read_figures(path, _COMMAND)
    try:
        metric = _metric(path, figures, wanted)
        bins = _bins(path, figures)
        return _Scores(
            metric,
            figures["metrics"][metric]["higher_is_better"],
            str(figures["by_length"]["tokens_of"]),
            [Group(str(each["label"]), int(each["sentences"])) for each in bins],
            {
                name: [score_point(each["scores"][metric][name]) for each in bins]
                for name in bins[0]["scores"][metric]
            },
            {
                _BARS[key]
                for each in bins
                for score in each["scores"][metric].values()
                if (key := "interval" if score.get("interval") else "spread") in score
                and score[key] is not None
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise other_file(path, _COMMAND) from None


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
