"""Scores of sentences by metrics that are not here, such as COMET, out of files."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Score

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.evaluated_systems import EvaluationSet
from syntax_nmt.scoring.translations.system_files import named_files

_OPTION = "--sentence-scores"
_NAMES = ("COMET", "score")  # what scores are called in JSON, the likeliest first
_COMET_LINE = re.compile(r".*\tSegment \d+\tscore: (\S+)")
_UNNAMED = "sentence score"


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
        """Of each run the scores and ones, which add up to what the mean is made of."""
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
        help="a system by the name that it has in the tables, and its scores by sentence, a file "
        "for each of its runs: one number a line, or what comet-score writes, with --to_json or "
        "without. Once for each system",
    )
    add(
        "--sentence-metric",
        metavar="NAME",
        help="what the metric is called (default: as in the JSON, or 'sentence score')",
    )
    add("--sentence-lower", action="store_true", help="less is better, as of error rates")


def sentence_scores(args: argparse.Namespace, test_set: EvaluationSet) -> SentenceScores | None:
    """The scores that a command line names; None = none.

    Args:
        test_set: what they are scores of.

    Raises:
        UserError: a file is damaged or has other sentences, or a system has none.
    """
    given = args.sentence_scores
    if not given and (args.sentence_metric or args.sentence_lower):
        raise UserError(f"--sentence-metric and --sentence-lower are about {_OPTION}: add it")
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
            scores, name = _read(path, run.name)
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


def _read(path: str, run: str) -> tuple[list[float], str]:
    """The scores of a file, and what it calls them."""
    lines = list(read_lines(path))
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if filled and filled[0][1].lstrip()[:1] in ("{", "["):
        return _of_json(path, "\n".join(lines), run)
    comet = [
        (number, match[1]) for number, line in filled if (match := _COMET_LINE.fullmatch(line))
    ]
    name = _NAMES[0] if comet else _UNNAMED
    return [_number(text, f"{path}:{number}") for number, text in comet or filled], name


def _of_json(path: str, text: str, run: str) -> tuple[list[float], str]:
    content = parse_json(text, path, "a number a line, or COMET's JSON")
    if isinstance(content, dict):
        content = _of_run(path, content, run)
    if not isinstance(content, list) or not content:
        raise UserError(f"{path}: no list of sentences: give a number a line, or COMET's JSON")
    if not isinstance(content[0], dict):
        places = enumerate(content, start=1)
        return [_number(item, f"{path}: sentence {n}") for n, item in places], _UNNAMED
    name = next((name for name in _NAMES if name in content[0]), None)
    if name is None:
        raise UserError(f"{path}: its sentences have no {' or '.join(_NAMES)}: give COMET's JSON")
    return [
        _number(item.get(name), f"{path}: sentence {number}")
        for number, item in enumerate(content, start=1)
    ], name


def _of_run(path: str, content: dict[str, Any], run: str) -> Any:
    """COMET's files have the sentences of each file that was scored, by its name."""
    if run in content:
        return content[run]
    namesakes = [name for name in content if Path(name).name == Path(run).name]
    if len(namesakes) == 1:
        return content[namesakes[0]]
    if len(content) == 1:  # the file may have been renamed since
        (name,) = content
        print(f"note: {path}: has scores of {name}, taken for those of {run}", file=sys.stderr)
        return content[name]
    raise UserError(
        f"{path}: has scores of {', '.join(map(str, content))}, not of {run}: give its own"
    )


def _number(value: Any, where: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise UserError(f"{where}: {str(value)[:40]!r} is no score: give a number a sentence")
    return found
