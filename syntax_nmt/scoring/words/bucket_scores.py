"""Scores of words by bucket: with intervals, or with differences and their tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.paired_tests import (
    ComparedScores,
    SignificanceTests,
    adjust,
    differences,
    tested_differences,
)
from syntax_nmt.scoring.translations.resampling import Confidence, bootstrap_scores, interval
from syntax_nmt.scoring.words.bucket_tables import Bucket, BucketScore, BucketTable
from syntax_nmt.scoring.words.counts import BucketCounts, count_words
from syntax_nmt.scoring.words.matches import (
    BITS,
    FOUND,
    OUTPUT,
    SHARES,
    WIDTH,
    BucketMeasures,
    figures_of,
)
from syntax_nmt.scoring.words.settings import WordSettings


def score_words(
    test_set: TestSet, settings: WordSettings, confidence: Confidence | None = None
) -> list[BucketTable]:
    """Precision, recall and F1 of each bucket, for each kind of buckets; then bits, if any.

    Args:
        confidence: None = no intervals.

    Raises:
        UserError: files that are damaged or of another text.
    """
    counts = count_words(test_set, settings)
    tables = [_table(test_set, settings, of_kind, []) for of_kind in counts]
    tested = _Tested(counts, settings.least_words)
    if confidence is not None and tested.measures.names:
        buckets = [bucket for table in tables for bucket in table.tested()]
        for place, of_system in enumerate(tested.statistics):
            drawn = bootstrap_scores(
                of_system, tested.measures.score_rows, confidence.resamples, confidence.seed
            )
            for bucket, column in zip(buckets, drawn.mean(axis=1).T):
                bucket.systems[place].interval = interval(column)
    return tables


def compare_words(
    test_set: TestSet, settings: WordSettings, tests: SignificanceTests
) -> list[BucketTable]:
    """The same with differences from the first system, and their tests.

    p-values are adjusted over the tested buckets of a kind (Holm). Collins' sign test is not made:
    where few words are found, it counts which translations have fewer words.

    Raises:
        UserError: files that are damaged or of another text.
    """
    counts = count_words(test_set, settings)
    tested = _Tested(counts, settings.least_words)
    found: list[ComparedScores] = []
    if tested.measures.names:
        found = tested_differences(tested.measures, tested.statistics, tests)
    tables = [_table(test_set, settings, of_kind, found) for of_kind in counts]
    for table in tables:
        for place, _ in enumerate(test_set.systems):
            adjust(bucket.systems[place] for bucket in table.tested())
    return tables


class _Tested:
    """The buckets of all kinds that have enough words; they share the draws."""

    def __init__(self, counts: Sequence[BucketCounts], least_words: int) -> None:
        names, measures, columns = [], [], []
        for of_kind in counts:
            chosen = [
                place
                for place, name in enumerate(of_kind.buckets)
                if of_kind.sizes[name] >= least_words
            ]
            names += [_key(of_kind, of_kind.buckets[place]) for place in chosen]
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


def _key(counts: BucketCounts, bucket: str) -> str:
    return f"{counts.measure} {counts.by} {bucket}"


def _table(
    test_set: TestSet,
    settings: WordSettings,
    counts: BucketCounts,
    tested: Sequence[ComparedScores],
) -> BucketTable:
    """The table of one kind of buckets.

    Args:
        tested: by system, the tested buckets of all kinds; none where nothing was tested.
    """
    measures = BucketMeasures(tuple(counts.buckets), (counts.measure,) * len(counts.buckets))
    scores = differences(measures, counts.statistics)
    for of_system, found in zip(scores, tested):
        of_kind = {name: _key(counts, name) for name in counts.buckets}
        of_system.update((name, found[key]) for name, key in of_kind.items() if key in found)
    buckets = []
    for name in counts.buckets:
        systems = [
            BucketScore(
                name=system.name,
                **_shares(counts.measure, [run[:, measures.columns(name)] for run in of_system]),
                **vars(of_buckets[name]),
            )
            for system, of_system, of_buckets in zip(test_set.systems, counts.statistics, scores)
        ]
        words = counts.sizes[name]
        buckets.append(Bucket(name, words, words >= settings.least_words, systems))
    return BucketTable(
        counts.by,
        counts.side,
        counts.measure,
        counts.output_labels,
        settings.least_words,
        counts.outside,
        buckets,
    )


def _shares(measure: str, statistics: Sequence[np.ndarray]) -> Mapping[str, Any]:
    """Means of the shares over the runs, and the counts of each run; none of bits."""
    if measure == BITS:
        return {}
    sums = np.stack([run.sum(axis=0) for run in statistics])
    figures, counts = figures_of(sums), sums.astype(int)
    return {
        **{name: float(figures[name].mean()) for name in SHARES},
        "correct": counts[:, FOUND].tolist(),
        "predicted": counts[:, OUTPUT].tolist(),
    }
