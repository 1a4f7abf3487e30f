"""Figures of words by bucket for JSON: scores with intervals, or differences with tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from syntax_nmt.scoring.translations.comparison import (
    SIGN,
    TEST_COLUMNS,
    SignificanceTests,
    add_tests,
    scored_systems,
)
from syntax_nmt.scoring.translations.holm import holm
from syntax_nmt.scoring.translations.resampling import bootstrap_scores, interval
from syntax_nmt.scoring.translations.score_report import Confidence
from syntax_nmt.scoring.translations.test_set import TestSet
from syntax_nmt.scoring.words.counts import BucketCounts, count_words
from syntax_nmt.scoring.words.matches import FOUND, OUTPUT, WIDTH, BucketMeasures, figures_of
from syntax_nmt.scoring.words.settings import WordSettings


def score_words(
    test_set: TestSet, settings: WordSettings, confidence: Confidence | None = None
) -> list[dict[str, Any]]:
    """Precision, recall and F1 of each bucket, for each kind of buckets.

    Args:
        confidence: None = no intervals.

    Returns:
        for each kind: `by`, `side`, `measure` (what intervals are of), `least_words`, and
        `buckets`; in each bucket its name, its `words` and its `systems`.

    Raises:
        UserError: files that are damaged or of another text.
    """
    counts = count_words(test_set, settings)
    tables = _tables(test_set, settings, counts)
    if confidence is not None:
        tested = _Tested(tables, counts)
        for place, of_system in enumerate(tested.statistics):
            drawn = bootstrap_scores(
                of_system, tested.measures.score_rows, confidence.resamples, confidence.seed
            )
            for bucket, column in zip(tested.buckets, drawn.mean(axis=1).T):
                bucket["systems"][place]["interval"] = interval(column)
    return tables


def compare_words(
    test_set: TestSet, settings: WordSettings, tests: SignificanceTests
) -> list[dict[str, Any]]:
    """The same with differences from the first system, and their tests.

    p-values have their `p_holm`: adjusted over the tested buckets of a kind. Collins' sign test is
    not made: where few words are found, it counts which translations have fewer words.

    Raises:
        UserError: files that are damaged or of another text.
    """
    counts = count_words(test_set, settings)
    tables = _tables(test_set, settings, counts)
    tested = _Tested(tables, counts)
    if tested.buckets:
        systems = scored_systems(tested.measures, test_set.systems, tested.statistics)
        names = tuple(name for name in tests.names if name != SIGN)
        add_tests(tested.measures, systems, tested.statistics, replace(tests, names=names))
        for place, system in enumerate(systems):
            for bucket, item in zip(tested.buckets, system["scores"].values()):
                bucket["systems"][place] |= item
    for table in tables:
        _adjust(table)
    return tables


class _Tested:
    """The buckets of all kinds that have enough words; they share the draws."""

    def __init__(self, tables: Sequence[dict[str, Any]], counts: Sequence[BucketCounts]) -> None:
        self.buckets: list[dict[str, Any]] = []
        names, measures, columns = [], [], []
        for table, of_kind in zip(tables, counts):
            chosen = [place for place, each in enumerate(table["buckets"]) if each["tested"]]
            self.buckets += [table["buckets"][place] for place in chosen]
            names += [f"{of_kind.by} {of_kind.buckets[place]}" for place in chosen]
            measures += [of_kind.measure] * len(chosen)
            columns.append([WIDTH * place + column for place in chosen for column in range(WIDTH)])
        self.measures = BucketMeasures(tuple(names), tuple(measures))
        self.statistics = [
            [
                np.concatenate([run[:, of_kind] for run, of_kind in zip(kinds, columns)], axis=1)
                for kinds in zip(*of_system)
            ]
            for of_system in zip(*(of_kind.statistics for of_kind in counts))
        ]


def _tables(
    test_set: TestSet, settings: WordSettings, counts: Sequence[BucketCounts]
) -> list[dict[str, Any]]:
    tables = []
    for of_kind in counts:
        measures = BucketMeasures(tuple(of_kind.buckets), (of_kind.measure,) * len(of_kind.buckets))
        systems = scored_systems(measures, test_set.systems, of_kind.statistics)
        buckets = []
        for name in of_kind.buckets:
            buckets.append(
                {
                    "bucket": name,
                    "words": of_kind.sizes[name],
                    "tested": of_kind.sizes[name] >= settings.least_words,
                    "systems": [
                        {
                            "name": system["name"],
                            **_shares([run[:, measures.columns(name)] for run in of_system]),
                            **system["scores"][name],
                            "interval": None,
                        }
                        for system, of_system in zip(systems, of_kind.statistics)
                    ],
                }
            )
        tables.append(
            {
                "by": of_kind.by,
                "side": of_kind.side,
                "measure": of_kind.measure,
                "labels_of_output": of_kind.output_labels,
                "least_words": settings.least_words,
                "words_without_bucket": of_kind.outside,
                "buckets": buckets,
            }
        )
    return tables


def _shares(statistics: Sequence[np.ndarray]) -> dict[str, Any]:
    """Means of precision, recall and F1 over the runs, and the counts of each run."""
    sums = np.stack([run.sum(axis=0) for run in statistics])
    shares = {name: float(column.mean()) for name, column in figures_of(sums).items()}
    counts = sums.astype(int)
    return {**shares, "correct": counts[:, FOUND].tolist(), "predicted": counts[:, OUTPUT].tolist()}


def _adjust(table: Mapping[str, Any]) -> None:
    """Adds `p_holm` to the tests: over the buckets, for each system and test."""
    tested = [bucket["systems"] for bucket in table["buckets"] if bucket["tested"]]
    for of_system in zip(*tested):
        for test in TEST_COLUMNS:
            made = [item[test] for item in of_system if test in item]
            known = [item for item in made if item["p_value"] is not None]
            for item, p_value in zip(known, holm([item["p_value"] for item in known])):
                item["p_holm"] = p_value
