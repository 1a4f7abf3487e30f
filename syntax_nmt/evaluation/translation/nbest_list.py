"""n-best lists as Moses and Marian write them: `7 ||| a translation ||| features ||| score`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from syntax_nmt.errors import UserError

_ENTRY = re.compile(r"(\d+) \|\|\| (.*?)(?: ?\|\|\|.*)?", re.ASCII)


def is_nbest_list(lines: Sequence[str]) -> bool:
    """Whether every line is an entry of a list."""
    return bool(lines) and all(map(_ENTRY.fullmatch, lines))


def best_translations(lines: Sequence[str], name: str) -> list[str]:
    """The first translation of each sentence, which is the best one.

    Args:
        name: of the file, for messages.

    Raises:
        UserError: a sentence is missing.
    """
    found: dict[int, str] = {}
    for line in lines:
        match = _ENTRY.fullmatch(line)
        if match is not None:
            found.setdefault(int(match[1]), match[2])
    for sentence in range(max(found) + 1):
        if sentence not in found:
            raise UserError(f"{name}: sentence {sentence} of the n-best list is missing")
    return [found[sentence] for sentence in range(len(found))]
