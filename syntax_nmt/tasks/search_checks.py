"""Options of a search that fairseq would stop at only after the first batch."""

from __future__ import annotations

from typing import Any

from syntax_nmt.errors import UserError
from syntax_nmt.option_names import flag

_ITERATIVE = ("print_step", "retain_iter_history")


def check_search_options(args: Any) -> None:
    """Refuses what no search of these models can print.

    Args:
        args: fairseq's options of the search.

    Raises:
        UserError: names the option.
    """
    for name in _ITERATIVE:
        if getattr(args, name, False):
            raise UserError(
                f"{flag(name)} is for models that refine a translation step by step, which these "
                "do not: leave it out"
            )
    if getattr(args, "score_reference", False) and getattr(args, "print_alignment", "") == "soft":
        raise UserError(
            "--score-reference gives hard alignments: leave `soft` behind --print-alignment out"
        )
