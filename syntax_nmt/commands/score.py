"""`syntax-nmt score`: computes BLEU, chrF, TER, RIBES and character BLEU, also by length."""

import argparse

from syntax_nmt.arguments import add_numbers, natural_int, positive_int
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.findings import (
    add_digits_argument,
    add_findings_arguments,
    findings_outputs,
    write_findings,
)
from syntax_nmt.commands.shared.metrics import (
    METRIC_NEEDS,
    add_length_arguments,
    add_metric_arguments,
    length_bins,
    metric_set,
)
from syntax_nmt.commands.shared.test_sets import (
    add_test_set_arguments,
    files_of_test_set,
    read_test_set,
)
from syntax_nmt.commands.shared.words import add_word_arguments, files_of_words, word_settings
from syntax_nmt.reporting.output import check_outputs
from syntax_nmt.scoring.evaluation import score
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED, Confidence

EXAMPLE = (
    "syntax-nmt score stock.gen dependency.gen --reference test.de --source pieces/test.en\n"
    "  syntax-nmt score --system baseline base.*.gen --system ours ours.*.gen --reference "
    "test.de --confidence --json scores.json"
)

DESCRIPTION = """\
Corpus scores of one or more systems, with signatures that make them reproducible. If the source is
known, the command also prints scores by sentence length and the number of translations longer than
1.5 × source + 5 words. RIBES is in percent. For several training seeds it prints mean and standard
deviation. --words-by adds precision, recall and F1 of the words of each bucket.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    parser.description = DESCRIPTION
    add_test_set_arguments(parser)
    add_length_arguments(parser)
    add_word_arguments(parser)
    add_metric_arguments(parser)
    parser.add_argument(
        "--factors",
        metavar="CONLLU",
        help="trees of the reference, in the words that the model was trained on: the accuracy of "
        "target factors, which fairseq-generate --print-factors wrote, for words in common",
    )
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add_findings_arguments(group)
    add_digits_argument(group)
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
        metavar="N",
        help=f"number of resamples (default: {RESAMPLES})",
    )
    add_numbers(group, natural_int, seed=f"random seed of the resamples (default: {SEED})")


def run(args: argparse.Namespace) -> None:
    """Scores what the command line names.

    Raises:
        UserError: options that do nothing, or files that are damaged or do not go together.
    """
    of_intervals = {name: ("confidence",) for name in ("confidence_n", "seed")}
    require_companion_options(args, of_intervals | METRIC_NEEDS)
    files = [*files_of_test_set(args), *files_of_words(args)]
    files += [] if args.factors is None else [args.factors]
    check_outputs(findings_outputs(args), files)
    test_set = read_test_set(args)
    words = word_settings(args, test_set)
    found = score(
        test_set,
        metric_set(args, test_set),
        bins=length_bins(args, test_set),
        confidence=_confidence(args),
        words=words,
        factors=args.factors,
    )
    write_findings(found, found.findings(args.width), args, stdout_is_free=True)


def _confidence(args: argparse.Namespace) -> Confidence | None:
    if not args.confidence:
        return None
    seed = SEED if args.seed is None else args.seed
    return Confidence(args.confidence_n or RESAMPLES, seed)
