"""`syntax-nmt score`: BLEU, chrF, TER, RIBES and character BLEU, of all sentences and by length."""

from __future__ import annotations

import argparse
import json
import sys

from syntax_nmt.arguments import natural_int, positive_int
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.output import STDOUT, open_output
from syntax_nmt.evaluation.translation.corpus_scores import corpus_statistics
from syntax_nmt.evaluation.translation.evaluated_systems import (
    TestSet,
    Text,
    add_test_set_arguments,
    check_parallel,
    read_test_set,
    read_text,
)
from syntax_nmt.evaluation.translation.length_bins import DEFAULT_EDGES, LengthBins, length_edges
from syntax_nmt.evaluation.translation.metric_arguments import add_metric_arguments, metric_set
from syntax_nmt.evaluation.translation.resampling import RESAMPLES, SEED
from syntax_nmt.evaluation.translation.score_report import Confidence, score_figures, score_tables

EXAMPLE = (
    "syntax-nmt score stock.gen dependency.gen --reference test.de --source pieces/test.en\n"
    "  syntax-nmt score --system baseline base.*.gen --system ours ours.*.gen --reference "
    "test.de --confidence --json scores.json"
)

DESCRIPTION = """\
Corpus scores of one or more systems side by side, with the signatures that make them repeatable.
Where sentence lengths are known, the scores of short and long sentences follow. RIBES is given in
percent. Of several training seeds the mean and the standard deviation are given.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options.

    Args:
        parser: the subcommand's parser.
    """
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    _add_length_arguments(parser)
    add_metric_arguments(parser)
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add("--json", metavar="FILE", help="write the figures here; - is stdout, without the tables")
    add(
        "--width",
        "-w",
        type=int,
        default=1,
        choices=range(8),
        metavar="N",
        help="digits after the point in the tables (default: 1)",
    )
    add(
        "--confidence",
        "-ci",
        action="store_true",
        help="95 %% intervals, by bootstrap resampling of the sentences",
    )
    add(
        "--confidence-n",
        "-cin",
        type=positive_int,
        default=RESAMPLES,
        metavar="N",
        help=f"how many resamples (default: {RESAMPLES})",
    )
    add(
        "--seed",
        type=natural_int,
        default=SEED,
        metavar="N",
        help=f"of the resamples (default: {SEED})",
    )


def _add_length_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scores by length")
    add = group.add_argument
    add(
        "--source",
        metavar="FILE",
        help="text that the lengths are counted on, in tokens separated by spaces: the segmented "
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
    add(
        "--upper-inclusive",
        action="store_true",
        help="a length of --bins belongs to the shorter sentences (≤10, 11–20, …) and not to the "
        "longer ones (<10, 10–19, …)",
    )


def run(args: argparse.Namespace) -> None:
    """Scores what the command line names.

    Args:
        args: as :func:`add_arguments` defines them.

    Raises:
        UserError: files that are damaged or do not go together.
    """
    metrics = metric_set(args)
    test_set = read_test_set(args)
    source = _source(args, test_set)
    statistics = corpus_statistics(metrics, test_set, args)
    confidence = Confidence(args.confidence_n, args.seed) if args.confidence else None
    bins = LengthBins(args.bins or DEFAULT_EDGES, args.upper_inclusive)
    figures = score_figures(metrics, test_set, statistics, source, bins, confidence)
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    if args.json != STDOUT:
        with open_output(STDOUT) as stream:
            stream.write(score_tables(figures, args.width))


def _source(args: argparse.Namespace, test_set: TestSet) -> Text | None:
    """The text whose lengths count."""
    if args.source is not None:
        source = read_text(args.source)
        check_parallel(source, test_set.references[0])
        return source
    if test_set.source is None and (args.bins is not None or args.upper_inclusive):
        raise UserError("--bins: no lengths are known: give the source text as --source")
    if test_set.source is None:
        print("note: no scores by length: give the source text as --source", file=sys.stderr)
    return test_set.source
