"""How scores change from one test set to another, such as one of a kind that training lacks.

A run's change is its score on the other set less that on the first. Two systems are compared by the
differences of their changes within seeds, tested with seeds as blocks
(:class:`~syntax_nmt.scoring.translations.block_test.SeedBlocks`).
"""

import statistics
from collections.abc import Mapping

from experiments.table_results import (
    ChangeDifference,
    ChangedScores,
    FamilyResult,
    RunMean,
    TableResult,
    TableSeedTest,
)
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.seed_tests import spread


def add_changes(table: TableResult, start: str, end: str) -> None:
    """Adds changes of the primary metric to each family on the test set `end`, and to its pairs.

    Args:
        start: the test set that scores change from; each run has one on both.
    """
    seeds = {run.key: run.seed for row in table.rows for run in row.runs}
    before = {test.family: test for test in table.tests if test.test == start}
    for test in (each for each in table.tests if each.test == end and each.family in before):
        metric = table.primary_of(test)
        first, last = (_by_run(each, metric) for each in (before[test.family], test))
        changes = {
            system: {seeds[key]: runs[key] - first[system][key] for key in runs}
            for system, runs in last.items()
        }
        of_runs = {system: list(each.values()) for system, each in changes.items()}
        test.changed = ChangedScores(
            start,
            {
                system: RunMean(statistics.mean(each), spread(each), each)
                for system, each in of_runs.items()
            },
        )
        _compare(test, changes)


def _by_run(test: FamilyResult, metric: str) -> dict[str, dict[str, float]]:
    """The scores of each system, by the keys of its runs."""
    return {
        system: dict(zip(test.keys[system], scores[metric].runs))
        for system, scores in test.scores.items()
    }


def _compare(test: FamilyResult, changes: Mapping[str, Mapping[int, float]]) -> None:
    """Adds to each pair the difference of its changes, and the test of it.

    Args:
        changes: of each system, by seed.
    """
    blocks, names = SeedBlocks(list(changes.values())), list(changes)
    for pair in test.pairs:
        first, second = changes[pair.against], changes[pair.system]
        shared = [second[seed] - first[seed] for seed in second if seed in first]
        found = blocks.test(names.index(pair.against), names.index(pair.system))
        difference = statistics.mean(shared) if shared else None
        pair.change = ChangeDifference(difference, TableSeedTest(**vars(found)))
