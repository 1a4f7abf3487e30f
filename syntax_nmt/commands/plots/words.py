"""`syntax-nmt plot words`: words by bucket, or the differences of systems, with intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.arguments import add_flags
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.json_figures import free_name, read_result

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

    from syntax_nmt.pictures.plots.group_curves import Group, Point
    from syntax_nmt.scoring.words.bucket_tables import BucketTable

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
        bits="the bits of the words, of --words-by … --bits",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, or do not go together.
    """
    from syntax_nmt.pictures.plots.dot_rows import draw_dots
    from syntax_nmt.pictures.plots.word_dots import word_dots

    groups: list[Group] = []
    systems: dict[str, list[Point | None]] = {}
    about = ""
    for path in args.figures:
        found = word_dots(_table(path, args.words_by, args.bits), args.differences)
        for name, points in found.systems.items():
            systems[free_name(name, path, systems)] = points
        groups, about = groups or found.groups, about or found.about
        if (found.groups, found.about) != (groups, about):
            raise UserError(
                f"{path}: other buckets or words than in {args.figures[0]}: measure all systems on "
                "the same words"
            )
    if not groups:
        raise UserError(f"{args.figures[0]}: no bucket has enough words: lower --least-words")
    if not systems:
        raise UserError(f"{args.figures[0]}: --differences needs two systems, and it has one")
    return draw_dots(groups, systems, about, args.title, args.room, args.differences)


def _table(path: str, wanted: str | None, bits: bool) -> BucketTable:
    from syntax_nmt.scoring.words.bucket_tables import TablesOfWords

    found = read_result(path, TablesOfWords, _COMMAND)
    tables = {table.by: table for table in found.words_by or () if table.is_of_bits == bits}
    if not tables:
        what, option = ("bits of words", "--words-by … --bits") if bits else (
            "words by bucket", "--words-by"
        )  # fmt: skip
        raise UserError(f"{path}: has no {what}: write it with {option}")
    by = wanted or next(iter(tables))
    if by not in tables:
        raise UserError(f"--words-by {by}: {path} has {', '.join(tables)}")
    return tables[by]
