"""Sentence scores of external metrics, such as COMET, from files."""

import argparse
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics.base import Score

from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.evaluated_systems import EvaluationSet
from syntax_nmt.scoring.translations.system_files import named_files

_OPTION = "--sentence-scores"
_COMET_LINE = re.compile(r".*\tSegment \d+\tscore: (\S+)")


@dataclass(frozen=True)
class SentenceScores:
    """A metric whose score of a corpus is the mean of its sentences'.

    Attributes:
        name: of the metric.
        higher_is_better: whether a rise is good.
        systems: of each system, for each of its runs: one score a sentence.
    """

    name: str
    higher_is_better: bool
    systems: Sequence[Sequence[np.ndarray]]

    def statistics(self) -> list[list[np.ndarray]]:
        """For each run the scores and ones, whose sums give the mean."""
        return [
            [np.stack([run, np.ones_like(run)], axis=1) for run in runs] for runs in self.systems
        ]

    def score(self, sums: Sequence[float]) -> Score:
        """The score of a corpus.

        Args:
            sums: of the statistics over its sentences.
        """
        total, sentences = sums
        return Score(self.name, total / sentences if sentences else 0.0)

    @property
    def small(self) -> bool:
        """Whether scores are shares and not percent, and need more digits."""
        return all(float(np.abs(run).max(initial=0)) < 2 for runs in self.systems for run in runs)


def add_sentence_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    group = parser.add_argument_group("a metric that was computed elsewhere, such as COMET")
    add = group.add_argument
    add(
        _OPTION,
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME FILE", "FILE"),
        help="a system by its name in the tables, and its sentence scores, one file for each run: "
        "one number per line, or the output of comet-score. Repeat for each system",
    )
    add(
        "--sentence-metric",
        metavar="NAME",
        help="name of the metric (default: COMET, or 'sentence score')",
    )
    add("--sentence-lower", action="store_true", help="lower is better, as for error rates")


def sentence_scores(args: argparse.Namespace, test_set: EvaluationSet) -> SentenceScores | None:
    """The scores of a command line; None = none.

    Args:
        test_set: what they are scores of.

    Raises:
        UserError: a file is damaged or has other sentences, or a system has none.
    """
    given = args.sentence_scores
    if not given:
        return None
    names = [system.name for system in test_set.systems]
    files = named_files(_OPTION, given, names, ())
    by_system, found_names = [], []
    for system in test_set.systems:
        paths = files.get(system.name, [])
        if len(paths) != len(system.runs):
            raise UserError(
                f"{_OPTION} {system.name}: {len(paths)} files for {len(system.runs)} runs: give "
                f"every system as many as it has translations"
            )
        runs = []
        for path, run in zip(paths, system.runs):
            scores, name = _read(path)
            if len(scores) != test_set.sentences:
                raise UserError(
                    f"{path} has {len(scores)} scores, {run.name} {test_set.sentences} sentences: "
                    f"give one a sentence"
                )
            runs.append(np.array(scores))
            found_names.append(name)
        by_system.append(runs)
    name = args.sentence_metric or found_names[0]
    if not args.sentence_metric and len(set(found_names)) > 1:
        raise UserError(
            f"{_OPTION}: scores of {' and '.join(dict.fromkeys(found_names))}: give all systems "
            f"those of one metric, or name it with --sentence-metric"
        )
    return SentenceScores(name, not args.sentence_lower, by_system)


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
