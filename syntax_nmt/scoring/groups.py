"""Systems compared within groups of sentences, and whether a gain differs between groups.

The gain of a system in a group g is the difference of its score there from the baseline's; the
interaction of system and group is

    I_g = gain in g − gain in all other sentences,

which is 0 where structure helps as much elsewhere. Its test and interval are over seeds and
sentences, of each run's score in g minus that in the others
(:func:`~syntax_nmt.scoring.translations.seed_tests.population_test`). "The gain is larger there"
needs it, as two gains of which one is significant may well be the same (Gelman and Stern, 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Table
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.sentence_groups import SentenceGroups
from syntax_nmt.scoring.translations.corpus_measures import figures_of_runs
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.paired_tests import (
    SignificanceTests,
    Statistics,
    adjust,
    tested_differences,
)
from syntax_nmt.scoring.translations.resampling import bootstrap_scores
from syntax_nmt.scoring.translations.results import (
    INTERVAL,
    ComparedScore,
    difference_cells,
    interval_text,
    signed,
)
from syntax_nmt.scoring.translations.seed_tests import population_test
from syntax_nmt.scoring.translations.significance import NO_SPREAD, SeedTest, adjust_tests


@dataclass(kw_only=True)
class GroupScore(ComparedScore):
    """A score of a system in a group.

    Attributes:
        name: of the system.
        interaction: the difference of gains, in the group and in the other sentences; None of the
            baseline and of groups that are not tested.
        interaction_test: its test and interval over seeds and sentences.
    """

    name: str
    interaction: float | None = None
    interaction_test: SeedTest | None = None


@dataclass
class GroupOfSentences(Result):
    """The sentences of a group.

    Attributes:
        label: such as `15–29`, or `with nsubj`.
        sentences: how many.
        tested: whether they, and the others, are enough for tests.
        systems: in the order of the test set.
    """

    label: str
    sentences: int
    tested: bool
    systems: list[GroupScore]


@dataclass
class GroupTable(Result):
    """The groups of a kind, by one metric.

    Attributes:
        by: the kind.
        metric: its name.
        sentences_without_group: those without a tree.
        groups: in order.
        least_sentences: a group with fewer, or with fewer others, is not tested.
        more_digits: how many more than other metrics it needs in tables.
    """

    by: str
    metric: str
    sentences_without_group: int
    groups: list[GroupOfSentences]
    least_sentences: int
    more_digits: int = field(default=0)

    def table(self, place: int, digits: int, metric: str) -> Table:
        """The differences of the system at a place from the first one.

        Args:
            digits: after the point.
            metric: its name in tables.
        """
        digits += self.more_digits
        pairs = [(group.systems[0], group.systems[place]) for group in self.groups]
        head, *rows = difference_cells([score.name for score in pairs[0]], pairs, digits)
        head = [self.by, "sentences", *head, "Δ − others' Δ", INTERVAL, "p inter"]
        rows = [
            [group.label, str(group.sentences), *row, *_interaction_cells(score, digits)]
            for group, (_, score), row in zip(self.groups, pairs, rows)
        ]
        title = f"{metric} by {self.by}; p after Holm's adjustment over the groups"
        return Table(head, rows, title)

    def notes(self) -> Iterator[str]:
        """What the table leaves out."""
        if not all(group.tested for group in self.groups):
            yield (
                f"{self.by}: no test of groups with fewer than {self.least_sentences} sentences, "
                "or with fewer others"
            )
        if self.sentences_without_group:
            yield f"{self.by}: {self.sentences_without_group} sentences have no tree"


def _interaction_cells(score: GroupScore, digits: int) -> list[str]:
    test = score.interaction_test
    if score.interaction is None or test is None:
        return [NO_FIGURE] * 3
    # Also of few seeds, as it is then over sentences.
    p_value = NO_SPREAD if test.p_value is None else test.marked_p_holm()
    return [signed(score.interaction, digits), interval_text(test, digits), p_value]


@dataclass(frozen=True)
class GroupMeasures:
    """Scores of groups, for the tests of :mod:`syntax_nmt.scoring.translations.paired_tests`.

    Statistics are those of all metrics, once for each group, 0 in sentences of other groups.

    Attributes:
        metrics: what scores a group.
        groups: how many.
    """

    metrics: MetricSet
    groups: int

    @property
    def names(self) -> tuple[str, ...]:
        """Of groups and metrics, those of a group side by side."""
        return tuple(f"{g} {name}" for g in range(self.groups) for name in self.metrics.names)

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The scores of many corpora: corpora × (groups · metrics).

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """
        return self._rows(sums.reshape(len(sums), self.groups, -1))

    def contrast_rows(self, sums: np.ndarray) -> np.ndarray:
        """Each group's score minus that of all other sentences, likewise.

        Args:
            sums: as of :meth:`score_rows`.
        """
        groups = sums.reshape(len(sums), self.groups, -1)
        return self._rows(groups) - self._rows(groups.sum(axis=1, keepdims=True) - groups)

    def run_scores(self, statistics: Sequence[np.ndarray]) -> dict[str, list[float]]:
        """The scores of each run, by group and metric.

        Args:
            statistics: of each run, sentences × statistics.
        """
        return figures_of_runs(self.names, self.score_rows, statistics)

    def _rows(self, groups: np.ndarray) -> np.ndarray:
        corpora, number, width = groups.shape
        rows = self.metrics.score_rows(groups.reshape(corpora * number, width))
        return rows.reshape(corpora, number * len(self.metrics.names))


def compare_groups(
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Statistics,
    tests: SignificanceTests,
    groups: SentenceGroups,
    least_sentences: int,
) -> list[GroupTable]:
    """The differences of systems in each group, their tests, and those of interactions: a table for
    each metric.

    p-values are adjusted over the tested groups of a table (Holm); of two groups those of
    interactions are not, as these are one. Collins' sign test is not made.

    Args:
        statistics: of all sentences, by system and run.
    """
    masks = groups.masks()
    sizes = masks.sum(axis=1).astype(int)
    others = sizes.sum() - sizes
    tested = (sizes >= least_sentences) & (others >= least_sentences)
    measures = GroupMeasures(metrics, len(sizes))
    in_groups = [[_masked(run, masks) for run in of_system] for of_system in statistics]
    scores = tested_differences(measures, in_groups, tests)
    interactions = _interactions(measures, in_groups, tests)
    outside = int((groups.members < 0).sum())
    descriptions = metrics.descriptions()
    tables = []
    for place, metric in enumerate(metrics.names):
        found = [
            GroupOfSentences(
                label,
                int(sizes[g]),
                bool(tested[g]),
                [
                    _score(system.name, of_system[f"{g} {metric}"], of_contrasts, bool(tested[g]))
                    for system, of_system, of_contrasts in zip(
                        test_set.systems,
                        scores,
                        [None, *(each[g][place] for each in interactions)],
                    )
                ],
            )
            for g, label in enumerate(groups.labels)
        ]
        _adjust(found, len(test_set.systems))
        digits = descriptions[metric].more_digits
        tables.append(GroupTable(groups.by, metric, outside, found, least_sentences, digits))
    return tables


def _masked(run: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Sentences × (groups · statistics)."""
    return np.concatenate([run * mask[:, None] for mask in masks], axis=1)


Interaction = tuple[float, SeedTest]
"""The difference of gains, and its test."""


def _interactions(
    measures: GroupMeasures, statistics: Statistics, tests: SignificanceTests
) -> list[list[list[Interaction | None]]]:
    """By system but the first, by group and metric; None where a side has nothing to score."""
    drawn = [
        bootstrap_scores(of_system, measures.contrast_rows, tests.resamples, tests.seed)
        for of_system in statistics
    ]
    runs = [
        measures.contrast_rows(np.stack([run.sum(axis=0) for run in of_system]))
        for of_system in statistics
    ]
    metrics = len(measures.metrics.names)
    return [
        [
            [_interaction(runs, drawn, place, g * metrics + i) for i in range(metrics)]
            for g in range(measures.groups)
        ]
        for place in range(1, len(statistics))
    ]


def _interaction(
    runs: Sequence[np.ndarray], drawn: Sequence[np.ndarray], place: int, column: int
) -> Interaction | None:
    first, second = (runs[i][:, column] for i in (0, place))
    if np.isnan([*first, *second]).any():
        return None
    test = population_test(
        first.tolist(), second.tolist(), drawn[0][:, :, column], drawn[place][:, :, column]
    )
    return float(second.mean() - first.mean()), test


def _score(
    name: str, score: ComparedScore, interaction: Interaction | None, tested: bool
) -> GroupScore:
    if not tested:
        untested = ComparedScore(score.score, score.spread, score.runs, score.difference)
        return GroupScore(name=name, **vars(untested))
    value, test = interaction or (None, None)
    return GroupScore(name=name, interaction=value, interaction_test=test, **vars(score))


def _adjust(groups: Sequence[GroupOfSentences], systems: int) -> None:
    """Adds Holm's p over the tested groups."""
    for place in range(1, systems):
        scores = [group.systems[place] for group in groups if group.tested]
        adjust(scores)
        made = [score.interaction_test for score in scores if score.interaction_test is not None]
        if len(groups) == 2:  # the interactions are the same but for the sign
            for test in made:
                test.p_holm = test.p_value
        else:
            adjust_tests(made)
