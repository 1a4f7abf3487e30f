"""Command-line options of paired tests between systems."""

from __future__ import annotations

import argparse
import sys

from syntax_nmt.arguments import natural_int, positive_int
from syntax_nmt.evaluation.translation.comparison import TESTS, Sampling
from syntax_nmt.evaluation.translation.evaluated_systems import TestSet
from syntax_nmt.evaluation.translation.resampling import RESAMPLES, SEED, TRIALS

_FEW = 100


def add_sampling_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the choice of tests and the numbers of their draws."""
    group = parser.add_argument_group("tests")
    add = group.add_argument
    add(
        "--tests",
        nargs="+",
        choices=TESTS,
        default=TESTS,
        metavar="TEST",
        help=f"some of {', '.join(TESTS)} (default: all)",
    )
    add(
        "--resamples",
        type=positive_int,
        default=RESAMPLES,
        metavar="N",
        help=f"of the bootstrap (default: {RESAMPLES})",
    )
    add(
        "--trials",
        type=positive_int,
        default=TRIALS,
        metavar="N",
        help=f"of approximate randomisation (default: {TRIALS})",
    )
    add("--seed", type=natural_int, default=SEED, metavar="N", help=f"of both (default: {SEED})")


def sampling_of(args: argparse.Namespace, test_set: TestSet) -> Sampling:
    """The tests that a command line asks for; says on stderr where they mean little.

    Args:
        test_set: what they are about.
    """
    if test_set.sentences < _FEW:
        print(
            f"note: on {test_set.sentences} sentences the p-values of resampling mean little",
            file=sys.stderr,
        )
    return Sampling(tuple(args.tests), args.resamples, args.trials, args.seed)
