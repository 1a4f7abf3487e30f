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
    for option, kind, default, what in (
        ("--resamples", positive_int, RESAMPLES, "of the bootstrap"),
        ("--trials", positive_int, TRIALS, "of approximate randomisation"),
        ("--seed", natural_int, SEED, "of both"),
    ):
        text = f"{what} (default: {default})"
        group.add_argument(option, type=kind, default=default, metavar="N", help=text)
    group.add_argument(
        "--tests",
        nargs="+",
        choices=TESTS,
        default=TESTS,
        metavar="TEST",
        help=f"some of {', '.join(TESTS)} (default: all)",
    )


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
