"""Options and checks that commands of this folder share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from syntax_nmt.data.subwords import AUTO, SCHEMES
from syntax_nmt.errors import UserError


def add_subwords_argument(group: argparse._ActionsContainer) -> None:
    """Adds how a text was segmented.

    Args:
        group: of the command's parser, or the parser.
    """
    group.add_argument(
        "--subwords",
        choices=(AUTO, *SCHEMES),
        default=AUTO,
        help="how pieces tell words, if the text is in pieces (default: told from the text)",
    )


def chosen_scheme(args: argparse.Namespace) -> str | None:
    """One of `subwords.SCHEMES`; None = to be told from the text."""
    return None if args.subwords == AUTO else args.subwords


def add_base_argument(group: argparse._ActionsContainer, option: str, whose: str) -> None:
    """Adds whether words are counted from 0 or 1.

    Args:
        group: of the command's parser, or the parser.
        whose: what counts so.
    """
    group.add_argument(
        option,
        type=int,
        choices=(0, 1),
        default=0,
        help=f"what {whose} call the first word (default: %(default)s)",
    )


def refuse_beside_hypothesis(args: argparse.Namespace, options: Sequence[str]) -> None:
    """Refuses options about a model where its results are given as --hypothesis.

    Args:
        options: their names in `args`.

    Raises:
        UserError: one of them is given.
    """
    for option in options:
        if getattr(args, option) is not None:
            name = "DATABIN" if option == "databin" else f"--{option.replace('_', '-')}"
            raise UserError(f"{name} and --hypothesis exclude each other: leave one out")


def check_parallel(path: str, count: int, other: str, others: int, unit: str = "lines") -> None:
    """Refuses a file that is not parallel to another.

    Args:
        unit: what is counted.

    Raises:
        UserError: the numbers differ.
    """
    if count != others:
        raise UserError(f"{path} has {count} {unit}, {other} {others}: give parallel files")
