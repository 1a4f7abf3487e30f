"""Command-line options of the metrics, under the names that users of sacrebleu know."""

from __future__ import annotations

import argparse

from sacrebleu.metrics import BLEU, CHRF

from syntax_nmt.arguments import natural_int
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.translation.evaluated_systems import TestSet
from syntax_nmt.evaluation.translation.metrics import (
    DEFAULT_NAMES,
    NAMES,
    MetricSet,
    MetricSettings,
)
from syntax_nmt.evaluation.translation.sentence_scores import (
    add_sentence_score_arguments,
    sentence_scores,
)


def add_metric_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of metrics and their options."""
    group = parser.add_argument_group("metrics (options as in sacrebleu)")
    add = group.add_argument
    add(
        "--metrics",
        "-m",
        nargs="+",
        choices=NAMES,
        default=DEFAULT_NAMES,
        metavar="METRIC",
        help=f"some of {', '.join(NAMES)} (default: {' '.join(DEFAULT_NAMES)})",
    )
    add(
        "--tokenize",
        "-tok",
        choices=tuple(BLEU.TOKENIZERS),
        help="tokeniser of BLEU and RIBES, none for text that is tokenised (default: 13a)",
    )
    add("--lowercase", "-lc", action="store_true", help="BLEU ignores case")
    add("--force", action="store_true", help="no warning when the text looks tokenised")
    smoothing = tuple(BLEU.SMOOTH_DEFAULTS)
    add("--smooth-method", "-s", choices=smoothing, default="exp", help="of BLEU (default: exp)")
    add(
        "--chrf-word-order",
        "-cw",
        type=natural_int,
        default=CHRF.WORD_ORDER,
        metavar="N",
        help="words in an n-gram of chrF; 2 is chrF++ (default: %(default)s)",
    )
    add("--chrf-lowercase", action="store_true", help="chrF ignores case")
    add("--ter-case-sensitive", action="store_true", help="TER minds case")
    add("--ter-asian-support", action="store_true", help="TER splits Asian characters")
    add("--ter-normalized", action="store_true", help="TER tokenises the text")
    add_sentence_score_arguments(parser)


def metric_set(args: argparse.Namespace, test_set: TestSet) -> MetricSet:
    """The metrics that a command line asks for.

    Args:
        test_set: what they are to measure.

    Raises:
        UserError: the tokeniser needs something that is not installed.
    """
    settings = MetricSettings(
        tokenize=args.tokenize,
        lowercase=args.lowercase,
        bleu={"smooth_method": args.smooth_method},
        chrf={"word_order": args.chrf_word_order, "lowercase": args.chrf_lowercase},
        ter={
            "case_sensitive": args.ter_case_sensitive,
            "asian_support": args.ter_asian_support,
            "normalized": args.ter_normalized,
        },
    )
    given = sentence_scores(args, test_set)
    if given is not None and given.name in MetricSet(NAMES, settings).names:
        raise UserError(f"--sentence-metric {given.name}: is computed here: give another name")
    return MetricSet(args.metrics, settings, given)
