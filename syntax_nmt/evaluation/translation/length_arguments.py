"""Command-line options of scores by length, and the text that lengths are counted on."""

from __future__ import annotations

import argparse
import sys

from syntax_nmt.arguments import add_files, add_flags
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.translation.evaluated_systems import (
    TestSet,
    Text,
    check_parallel,
    read_text,
)
from syntax_nmt.evaluation.translation.length_bins import DEFAULT_EDGES, LengthBins, length_edges


def add_length_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the source text and the groups of lengths."""
    group = parser.add_argument_group("scores by length")
    add = group.add_argument
    add_files(
        group,
        source="text that the lengths are counted on, in tokens separated by spaces: the segmented "
        "source for lengths in subwords (default: the S- lines of fairseq-generate, if there are "
        "any, which are words unless fairseq was run without --bpe and --post-process)",
    )
    add(
        "--bins",
        type=length_edges,
        metavar="LIST",
        help="lengths at which one group ends and the next begins (default: "
        f"{','.join(map(str, DEFAULT_EDGES))})",
    )
    add_flags(
        group,
        upper_inclusive="a length of --bins belongs to the shorter sentences (≤10, 11–20, …) and "
        "not to the longer ones (<10, 10–19, …)",
    )


def length_bins(args: argparse.Namespace) -> LengthBins:
    """The groups that a command line asks for."""
    return LengthBins(args.bins or DEFAULT_EDGES, args.upper_inclusive)


def length_text(args: argparse.Namespace, test_set: TestSet) -> Text | None:
    """The text whose lengths count; None where there is none, which is said on stderr.

    Raises:
        UserError: the text has another number of sentences, or is needed and not there.
    """
    if args.source is not None:
        source = read_text(args.source)
        check_parallel(source, test_set.references[0])
        return source
    if test_set.source is None and (args.bins is not None or args.upper_inclusive):
        raise UserError("--bins: no lengths are known: give the source text as --source")
    if test_set.source is None:
        print("note: no scores by length: give the source text as --source", file=sys.stderr)
    return test_set.source
