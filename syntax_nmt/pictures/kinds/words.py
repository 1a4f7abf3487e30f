"""`syntax-nmt plot words`: words by bucket, or the differences of systems, with intervals."""

import argparse
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from syntax_nmt.arguments import add_flags
from syntax_nmt.errors import UserError
from syntax_nmt.pictures.plots.dot_rows import draw_dots
from syntax_nmt.pictures.plots.group_curves import Group, Point
from syntax_nmt.scoring.json_figures import free_name, other_file, read_figures
from syntax_nmt.scoring.words.word_tables import measure_text

_COMMAND = "syntax-nmt compare"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add(
        "figures",
        metavar="JSON",
        nargs="+",
        help="what `syntax-nmt score --words-by … --json` or `syntax-nmt compare` wrote; the "
        "systems of all files get a marker each. Buckets below its --least-words are left out",
    )
    add("--words-by", metavar="BY", help="the kind of buckets (default: the file's first)")
    add_flags(
        parser,
        differences="of `syntax-nmt compare`: the systems' differences from the baseline, with "
        "intervals over seeds and sentences",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, or do not go together.
    """
    groups: list[Group] = []
    systems: dict[str, list[Point | None]] = {}
    about = ""
    for path in args.figures:
        figures = read_figures(path, _COMMAND)
        try:
            table = _table(path, figures, args.words_by)
            buckets = [each for each in table["buckets"] if each["tested"]]
            of_file = [Group(each["bucket"], each["words"]) for each in buckets]
            about_file = _about(table, len(buckets), args.differences)
            for name, points in _points(table, buckets, args.differences).items():
                systems[free_name(name, path, systems)] = points
        except (KeyError, TypeError, IndexError):
            raise other_file(path, _COMMAND) from None
        groups, about = groups or of_file, about or about_file
        if (of_file, about_file) != (groups, about):
            raise UserError(
                f"{path}: other buckets or words than in {args.figures[0]}: measure all systems on "
                "the same words"
            )
    if not groups:
        raise UserError(f"{args.figures[0]}: no bucket has enough words: lower --least-words")
    if not systems:
        raise UserError(f"{args.figures[0]}: --differences needs two systems, and it has one")
    return draw_dots(groups, systems, about, args.title, args.room, args.differences)


def _table(path: str, figures: Mapping[str, Any], wanted: str | None) -> dict[str, Any]:
    tables = {table["by"]: table for table in figures.get("words_by", ())}
    if not tables:
        raise UserError(f"{path}: has no words by bucket: write it with --words-by")
    by = wanted or next(iter(tables))
    if by not in tables:
        raise UserError(f"--words-by {by}: {path} has {', '.join(tables)}")
    return tables[by]


def _about(table: Mapping[str, Any], shown: int, differences: bool) -> str:
    """The name of the axis, and what else is to be known."""
    unit, over = ("difference in points", " over seeds and sentences") if differences else ("%", "")
    lines = [f"{measure_text(table)} ({unit})", f"bars: 95 % intervals{over}"]
    left_out = len(table["buckets"]) - shown
    lines.append("in brackets: words of the reference")
    if left_out:
        lines[-1] += f"; left out: {left_out} with fewer than {table['least_words']}"
    return "\n".join(lines)


def _points(
    table: Mapping[str, Any], buckets: list[dict[str, Any]], differences: bool
) -> dict[str, list[Point | None]]:
    """The scores of each system, or the differences of all but the first."""
    names = [system["name"] for system in table["buckets"][0]["systems"]]
    found: dict[str, list[Point | None]] = {}
    for place, name in enumerate(names):
        of_buckets = [bucket["systems"][place] for bucket in buckets]
        if not differences:
            found[name] = [_point(each["score"], each["interval"]) for each in of_buckets]
        elif place:
            found[f"{name} − {names[0]}"] = [
                _point(each["difference"], each.get("seeds")) for each in of_buckets
            ]
    return found


def _point(value: float, interval: Mapping[str, Any] | None) -> Point:
    return Point(value, interval["low"], interval["high"]) if interval else Point(value)
