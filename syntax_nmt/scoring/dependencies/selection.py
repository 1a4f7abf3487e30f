"""Selects the sentences to score: by length, and by unknown words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.dependencies.uas import Trees

_RANGE = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True)
class Selection:
    """The selection of sentences.

    Attributes:
        least: words of a sentence.
        most: words of a sentence; None = any number.
        known: no token may be unknown to the model.
    """

    least: int = 0
    most: int | None = None
    known: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace) -> Selection:
        """The selection of `--words` and `--known-words`.

        Raises:
            UserError: `--words` is no range.
        """
        if args.words is None:
            return cls(known=args.known_words)
        found = _RANGE.fullmatch(args.words)
        if found is None or int(found[1]) > int(found[2]):
            raise UserError(f"--words {args.words}: give the least and the most, such as 20-30")
        return cls(int(found[1]), int(found[2]), args.known_words)

    def __str__(self) -> str:
        """A description of the selection."""
        length = [] if self.most is None else [f"{self.least} to {self.most} words"]
        return " and ".join([*length, *(["only known words"] if self.known else [])])

    def apply(self, reference: Trees, unknown: Sequence[bool]) -> list[bool]:
        """Selects among the sentences with a reference parse.

        Args:
            unknown: whether a sentence has an unknown token; read only if needed.
        """
        return [
            gold is not None
            and self.least <= len(gold)
            and (self.most is None or len(gold) <= self.most)
            and not (self.known and unknown[index])
            for index, gold in enumerate(reference)
        ]
