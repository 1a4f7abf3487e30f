"""Sentence scores of external metrics, such as COMET, from files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics.base import Score

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.evaluation_set import TestSet, Text

_COMET_LINE = re.compile(r".*\tSegment \d+\tscore: (\S+)")


@dataclass(frozen=True)
class SentenceScores:
    """A metric whose score of a corpus is the mean of its sentences', or a weighted mean.

    Attributes:
        name: of the metric.
        higher_is_better: whether a rise is good.
        systems: of each system, for each of its runs: one score a sentence, times its weight.
        weights: likewise; None = 1 of each sentence.
        about: what the figures depend on, for signatures.
        sign_test: whether Collins' may be made: where the weights of a sentence differ between
            systems it takes equal ones for different.
    """

    name: str
    higher_is_better: bool
    systems: Sequence[Sequence[np.ndarray]]
    weights: Sequence[Sequence[np.ndarray]] | None = None
    about: str = "mean over sentences"
    sign_test: bool = True

    @classmethod
    def read(
        cls,
        files: Mapping[str, Sequence[str]],
        test_set: TestSet,
        name: str | None = None,
        *,
        lower_is_better: bool = False,
    ) -> SentenceScores:
        """Reads the scores of every system's runs.

        Args:
            files: by system, for each of its runs a file with one number per line, or the output
                of comet-score.
            test_set: what they are scores of.
            name: of the metric; None = COMET, or `sentence score`.

        Raises:
            UserError: a file is damaged or has other sentences, or a system has none.
        """
        by_system, names = [], []
        for system in test_set.systems:
            paths = system.own_files("sentence scores of", files)
            read = [
                _read_run(path, run, test_set.sentences) for path, run in zip(paths, system.runs)
            ]
            by_system.append([scores for scores, _ in read])
            names += [metric for _, metric in read]
        if name is None and len(set(names)) > 1:
            raise UserError(
                f"sentence scores: {' and '.join(dict.fromkeys(names))}: give all systems those of "
                "one metric, or a name for the metric"
            )
        return cls(name or names[0], not lower_is_better, by_system)

    def statistics(self) -> list[list[np.ndarray]]:
        """For each run the scores and weights, whose sums give the mean."""
        weights = self.weights or [[np.ones_like(run) for run in runs] for runs in self.systems]
        return [
            [np.stack(pair, axis=1) for pair in zip(*of_system)]
            for of_system in zip(self.systems, weights)
        ]

    def score(self, sums: Sequence[float]) -> Score:
        """The score of a corpus.

        Args:
            sums: of the statistics over its sentences.
        """
        return Score(self.name, float(self.score_rows(np.array(sums, dtype=float)[None])[0]))

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The scores of many corpora; NaN of one without weight, where there is nothing to score.

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """
        total, weight = sums.T
        return np.divide(total, weight, out=np.full_like(total, np.nan), where=weight != 0)

    @property
    def small(self) -> bool:
        """Whether scores are shares and not percent, and need more digits."""
        return all(float(np.abs(run).max(initial=0)) < 2 for runs in self.systems for run in runs)


def _read_run(path: str, run: Text, sentences: int) -> tuple[np.ndarray, str]:
    scores, metric = _read(path)
    if len(scores) != sentences:
        raise UserError(
            f"{path} has {len(scores)} scores, {run.name} {sentences} sentences: "
            "give one a sentence"
        )
    return np.array(scores), metric


def _read(path: str) -> tuple[list[float], str]:
    """The scores of a file, and what it calls them."""
    lines = [(n, line) for n, line in enumerate(read_lines(path), start=1) if line.strip()]
    comet = [(n, match[1]) for n, line in lines if (match := _COMET_LINE.fullmatch(line))]
    scores = [_number(text, f"{path}:{number}") for number, text in comet or lines]
    return scores, "COMET" if comet else "sentence score"


def _number(text: str, where: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UserError(f"{where}: {text[:40]!r} is no score: give a number a sentence")
    return found
