"""Sentences grouped by length, and translations that are far too long for their source.

A search that does not find the end of a sentence stops only at fairseq's `--max-len-a` and
`--max-len-b`, and a few such translations change BLEU by a point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.translations.evaluation_set import TestSet, Text

DEFAULT_EDGES = (15, 30, 45)


@dataclass(frozen=True)
class LengthBins:
    """The boundaries of length groups.

    Attributes:
        edges: ascending lengths.
        upper_inclusive: whether a length on an edge belongs to the shorter group: ≤10, 11–20,
            …, >50. Otherwise it belongs to the longer one: <15, 15–29, …, ≥45.
    """

    edges: tuple[int, ...] = DEFAULT_EDGES
    upper_inclusive: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each group; the numbers are its shortest and longest length."""
        first, last = ("≤", ">") if self.upper_inclusive else ("<", "≥")
        inner = self.bounds()[1:-1]
        between = [f"{low}" if low == high else f"{low}–{high}" for low, high in inner]
        return (f"{first}{self.edges[0]}", *between, f"{last}{self.edges[-1]}")

    def bounds(self) -> tuple[tuple[int, int | None], ...]:
        """The shortest and longest length of each group; None = any."""
        step = int(self.upper_inclusive)
        lows = (0, *(edge + step for edge in self.edges))
        highs = (*(edge - 1 + step for edge in self.edges), None)
        return tuple(zip(lows, highs))

    def members(self, lengths: Sequence[int]) -> list[np.ndarray]:
        """The positions of the sentences of each group.

        Args:
            lengths: of each sentence.
        """
        groups = np.digitize(lengths, self.edges, right=self.upper_inclusive)
        return [np.flatnonzero(groups == group) for group in range(len(self.edges) + 1)]


@dataclass(frozen=True)
class RunsOfSystem(Result):
    """Counts of a system's translations, one a run."""

    name: str
    runs: list[int]


@dataclass(frozen=True)
class LongTranslations(Result):
    """How many translations are longer than a limit.

    Attributes:
        limit: in words.
        source: the text that it counts the words of.
        systems: how many of each run are longer.
    """

    limit: str
    source: str
    systems: list[RunsOfSystem]

    @property
    def total(self) -> int:
        """How many there are in all runs."""
        return sum(sum(system.runs) for system in self.systems)

    def __str__(self) -> str:
        counts = [f"{each.name} {', '.join(map(str, each.runs))}" for each in self.systems]
        return f"translations longer than {self.limit}: {'; '.join(counts)}"


@dataclass(frozen=True)
class LengthLimit:
    """The maximal number of words of a translation: `ratio` × words of the source + `words`.

    Attributes:
        ratio: exact, so that 1.2 × 5 is 6.
        words: a constant, at least 0.
    """

    ratio: Fraction
    words: Fraction

    @classmethod
    def of(cls, text: str) -> LengthLimit:
        """The limit that is written `1.5,5`.

        Raises:
            ValueError: it is something else.
        """
        try:
            ratio, words = map(Fraction, text.split(","))
        except (ValueError, ZeroDivisionError):
            ratio = words = Fraction(-1)
        if ratio < 0 or words < 0:
            raise ValueError(
                f"{text!r}: give the words of a translation for each of the source, and how many "
                "more, such as 1.5,5"
            )
        return cls(ratio, words)

    def __str__(self) -> str:
        return f"{float(self.ratio):g} × source + {float(self.words):g} words"

    def longer(self, translations: Sequence[str], sources: Sequence[str]) -> int:
        """The number of longer translations.

        Args:
            translations: words separated by spaces.
            sources: likewise, of the same sentences.
        """
        pairs = zip(translations, sources)
        return sum(len(line.split()) > self._most(source) for line, source in pairs)

    def cut(self, translations: Sequence[str], sources: Sequence[str]) -> tuple[str, ...]:
        """The translations, longer ones cut to the limit.

        Args:
            translations: words separated by spaces.
            sources: likewise, of the same sentences.
        """
        return tuple(self._cut(line, source) for line, source in zip(translations, sources))

    def cut_test_set(self, test_set: TestSet) -> TestSet:
        """A test set, whose source is known, with all translations cut."""
        sources = test_set.source_words
        systems = tuple(
            replace(
                system,
                runs=tuple(Text(run.name, self.cut(run.sentences, sources)) for run in system.runs),
            )
            for system in test_set.systems
        )
        return replace(test_set, systems=systems)

    def exceeded(self, test_set: TestSet) -> LongTranslations | None:
        """How many translations are longer than their source asks for.

        Returns:
            None where the source is not known, or a text has no spaces between words.
        """
        if test_set.source is None or test_set.without_spaces is not None:
            return None
        sources = test_set.source_words
        counts = [
            RunsOfSystem(system.name, [self.longer(run.sentences, sources) for run in system.runs])
            for system in test_set.systems
        ]
        return LongTranslations(str(self), test_set.source.name, counts)

    def _cut(self, line: str, source: str) -> str:
        words, most = line.split(), self._most(source)
        return line if len(words) <= most else " ".join(words[:most])

    def _most(self, source: str) -> int:
        return math.floor(self.ratio * len(source.split()) + self.words)


USUAL = LengthLimit(Fraction("1.5"), Fraction(5))
