"""Checks of the options of a command line, before anything is loaded."""

import argparse
from collections.abc import Mapping, Sequence

from syntax_nmt.arguments import flag
from syntax_nmt.errors import UserError
from syntax_nmt.inference.settings import TEST

# Options of the model and its text; each command has some of them.
_OF_MODELS = {
    "databin": None,
    "path": None,
    "gen_subset": TEST,
    "parser_config": None,
    "segmented": False,
    "tokenizer": None,
    "bpe": None,
    "sentencepiece_model": None,
    "bpe_codes": None,
}


def refuse_beside_hypothesis(args: argparse.Namespace, options: Sequence[str]) -> None:
    """Refuses model options if --hypothesis gives the results.

    Args:
        options: names in `args` of those that only this command has.

    Raises:
        UserError: one of them is given.
    """
    for option, unset in {**_OF_MODELS, **dict.fromkeys(options)}.items():
        if getattr(args, option, unset) not in (unset, None):
            name = "DATABIN" if option == "databin" else flag(option)
            raise UserError(f"{name} and --hypothesis exclude each other: leave one out")


def require_companion_options(args: argparse.Namespace, needs: Mapping[str, Sequence[str]]) -> None:
    """Refuses options of a command that have no effect without another one.

    Args:
        needs: for each option the ones of which it needs any; names in `args`.

    Raises:
        UserError: one is given without them.
    """
    for option, needed in needs.items():
        if _is_given(getattr(args, option)) and not any(
            _is_given(getattr(args, name)) for name in needed
        ):
            missing = " or ".join(map(flag, needed))
            raise UserError(f"{flag(option)} does nothing without {missing}: add it")


def _is_given(value: object) -> bool:
    """Whether the value of an option is none that stands for its absence; 0 is given."""
    return value is not None and value is not False and value != []
