"""Command-line options of the metrics, under the names that users of sacrebleu know."""

from __future__ import annotations

import argparse

from sacrebleu.metrics import BLEU, CHRF

from syntax_nmt.arguments import natural_int, positive_int
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.translation.evaluated_systems import TestSet
from syntax_nmt.evaluation.translation.metrics import (
    DEFAULT_NAMES,
    NAMES,
    MetricSet,
    MetricSettings,
)
from syntax_nmt.evaluation.translation.ribes import ALPHA, BETA
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
    add("--smooth-value", "-sv", type=float, metavar="X", help="for floor and add-k")
    for name, kind, default, what in (
        ("char", positive_int, CHRF.CHAR_ORDER, "characters in an n-gram of chrF, at most"),
        ("word", natural_int, CHRF.WORD_ORDER, "words in an n-gram; 2 is chrF++"),
    ):
        flags = (f"--chrf-{name}-order", f"-c{name[0]}")
        add(*flags, type=kind, default=default, metavar="N", help=f"{what} (default: {default})")
    add("--chrf-beta", type=positive_int, default=CHRF.BETA, metavar="N", help="weight of recall")
    add("--chrf-whitespace", action="store_true", help="chrF counts spaces")
    add("--chrf-lowercase", action="store_true", help="chrF ignores case")
    add("--chrf-eps-smoothing", action="store_true", help="chrF smooths as chrF++.py does")
    add("--ter-case-sensitive", action="store_true", help="TER minds case")
    add("--ter-asian-support", action="store_true", help="TER splits Asian characters")
    add("--ter-no-punct", action="store_true", help="TER leaves punctuation out")
    add("--ter-normalized", action="store_true", help="TER tokenises the text")
    add("--ribes-alpha", type=float, default=ALPHA, metavar="X", help="exponent of the precision")
    add("--ribes-beta", type=float, default=BETA, metavar="X", help="of the brevity penalty")
    add("--ribes-case-sensitive", action="store_true", help="RIBES minds case")
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
        bleu={"smooth_method": args.smooth_method, "smooth_value": args.smooth_value},
        chrf={
            "char_order": args.chrf_char_order,
            "word_order": args.chrf_word_order,
            "beta": args.chrf_beta,
            "whitespace": args.chrf_whitespace,
            "lowercase": args.chrf_lowercase,
            "eps_smoothing": args.chrf_eps_smoothing,
        },
        ter={
            "case_sensitive": args.ter_case_sensitive,
            "asian_support": args.ter_asian_support,
            "no_punct": args.ter_no_punct,
            "normalized": args.ter_normalized,
        },
        ribes={
            "lowercase": not args.ribes_case_sensitive,
            "alpha": args.ribes_alpha,
            "beta": args.ribes_beta,
        },
    )
    given = sentence_scores(args, test_set)
    if given is not None and given.name in MetricSet(NAMES, settings).names:
        raise UserError(f"--sentence-metric {given.name}: is computed here: give another name")
    return MetricSet(args.metrics, settings, given)
