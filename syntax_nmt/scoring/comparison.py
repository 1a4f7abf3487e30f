"""The result of `syntax-nmt compare`: the systems, their differences from the first, and tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult
from syntax_nmt.scoring.groups import GroupTable
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import LongTranslations
from syntax_nmt.scoring.translations.metrics import MetricDescription, MetricSet
from syntax_nmt.scoring.translations.paired_tests import (
    SIGN,
    ComparedScores,
    SignificanceTests,
    Statistics,
    adjust,
    tested_differences,
)
from syntax_nmt.scoring.translations.results import (
    INTERVAL,
    TEST_COLUMNS,
    ComparedScore,
    ScoredSystem,
    balanced_notes,
    column_of,
    difference_text,
    have_intervals,
    interval_text,
    score_cell,
    signature_lines,
)
from syntax_nmt.scoring.translations.sign_test import SignTest, collins_sign_test
from syntax_nmt.scoring.translations.significance import SIGNIFICANT
from syntax_nmt.scoring.words.bucket_tables import BucketTable, comparison_tables, word_notes

INTERACTION = (
    "p inter: of the interaction, the gain in the group minus the gain in all other sentences, "
    "over seeds and sentences (over sentences alone with fewer than three seeds)"
)
_OVER_SEEDS = ("seeds", "blocks")
_LEAST_BLEU = 2  # below, a translation shares no sentence structure with its reference
_SIGNS = "better/worse/equal"


@dataclass
class ComparedSystem(ScoredSystem):
    """A system of a comparison.

    Attributes:
        scores: by metric.
    """

    scores: dict[str, ComparedScore]


@dataclass
class Comparison(CommandResult):
    """Systems compared with the first one.

    Attributes:
        sentences: number of those translated.
        references: their files; none of marks.
        baseline: name of the first system.
        metrics: by name.
        systems: the baseline first.
        cut: how many translations were cut before they were scored; None where none are.
        longer: how many far too long ones were not cut; None where none are, without a source in
            words, and in reports, whose scores have it.
        words_by: words by bucket, of each kind that was asked for.
        groups: groups of sentences, of each kind and metric.
    """

    sentences: int
    references: list[str]
    baseline: str
    metrics: dict[str, MetricDescription]
    systems: list[ComparedSystem]
    cut: LongTranslations | None = None
    longer: LongTranslations | None = None
    words_by: list[BucketTable] | None = None
    groups: list[GroupTable] | None = None

    def findings(self, digits: int = 1, *, of_runs: bool = False) -> Findings:
        """A table for each metric and kind of buckets, and the signatures.

        Args:
            digits: after the point of scores.
            of_runs: also the score of each run of systems that have several.
        """
        heading = (
            f"{self.sentences} sentences; Δ: difference from {self.baseline}; "
            f"* marks p < {SIGNIFICANT}"
        )
        words, groups = self.words_by or [], self.groups or []
        tables = [*(self._table(name, digits) for name in self.metrics)]
        others = range(1, len(self.systems))
        tables += [
            table.table(place, digits, column_of(self.metrics, table.metric))
            for table in groups
            for place in others
        ]
        tables += comparison_tables(words, digits)
        runs = self._scores_of_runs(digits) if of_runs else ()
        of_groups = dict.fromkeys(note for table in groups for note in table.notes())
        notes = [*runs, *self._notes(), *signature_lines(self.metrics)]
        notes += [*([INTERACTION] if groups else ()), *of_groups, *word_notes(words)]
        return Findings(tables, heading, notes)

    def tests_made(self) -> list[str]:
        """Names of the tests of differences by any metric, in the order of tables."""
        made = {name for score in self.systems[1].scores.values() for name in score.tests()}
        return [name for name in TEST_COLUMNS if name in made]

    def _notes(self) -> Iterator[str]:
        """What the columns are, a line for sentences and one for seeds, and what is remarkable."""
        scores = [score for system in self.systems for score in system.scores.values()]
        of_scores = ["±: half of the 95 % bootstrap interval"] * any(s.interval for s in scores)
        of_scores += ["sd: standard deviation over runs"] * any(
            s.spread is not None for s in scores
        )
        made = self.tests_made()
        meanings = {name: ": ".join(TEST_COLUMNS[name]) for name in made}
        over_seeds = [meanings.pop(name) for name in _OVER_SEEDS if name in made]
        if self._has_intervals:
            sentences = " and sentences" if "seeds" in made else ""
            over_seeds.append(f"{INTERVAL}: interval of Δ over seeds{sentences}")
        yield from ("; ".join(each) for each in (of_scores, meanings.values(), over_seeds) if each)
        if "sign_test" in made:
            yield f"{_SIGNS}: the baseline's corpus score if one of its sentences is the system's"
        if len(self.systems) > 2:
            yield "in brackets and for *: p after Holm's adjustment over all systems with this test"
        of_bleu = [system.scores["BLEU"] for system in self.systems if "BLEU" in self.metrics]
        bleu = [score.score for score in of_bleu if score.score is not None]
        if bleu and max(bleu) < _LEAST_BLEU:
            yield f"all systems are below {_LEAST_BLEU} BLEU, where differences say little"
        if self.cut is not None:
            yield f"cut: {self.cut}"
        if self.longer is not None:
            yield f"{self.longer}: they may decide these scores (--cut)"
        yield from balanced_notes(self.systems)

    def _scores_of_runs(self, digits: int) -> Iterator[str]:
        """A line for each metric and system: the scores of its runs, in the order of files."""
        for name, metric in self.metrics.items():
            for system in self.systems:
                runs = [
                    f"{score:.{digits + metric.more_digits}f}" for score in system.scores[name].runs
                ]
                if len(runs) > 1:
                    yield f"{name} of the runs of {system.name}: {', '.join(runs)}"

    def _table(self, metric: str, digits: int) -> Table:
        digits += self.metrics[metric].more_digits
        made = self.systems[1].scores[metric].tests()
        head = [column_of(self.metrics, metric), "score", "Δ", *(TEST_COLUMNS[t][0] for t in made)]
        head += [INTERVAL] * self._has_intervals + [_SIGNS] * ("sign_test" in made)
        rows = []
        for system in self.systems:
            score = system.scores[metric]
            row = [system.name, score_cell(score, digits), difference_text(score, digits)]
            row += [test.marked_p() for test in score.tests().values()]
            if self._has_intervals and score.over_seeds is not None:
                row.append(interval_text(score.over_seeds, digits))
            if score.sign_test is not None:
                signs = score.sign_test
                row.append(f"{signs.better}/{signs.worse}/{signs.equal}")
            rows.append([*row, *[""] * (len(head) - len(row))])
        return Table(head, rows)

    @property
    def _has_intervals(self) -> bool:
        return have_intervals(s for system in self.systems for s in system.scores.values())


def corpus_comparison(
    metrics: MetricSet, test_set: TestSet, statistics: Statistics, tests: SignificanceTests
) -> Comparison:
    """Compares the systems of a test set with the first one."""
    systems = [
        ComparedSystem(system.name, system.files, of_system, system.balanced_trees)
        for system, of_system in zip(test_set.systems, compared_scores(metrics, statistics, tests))
    ]
    return Comparison(
        test_set.sentences,
        [reference.name for reference in test_set.references],
        systems[0].name,
        metrics.descriptions(**tests.signature()),
        systems,
    )


def compared_scores(
    metrics: MetricSet, statistics: Statistics, tests: SignificanceTests
) -> list[ComparedScores]:
    """The scores of each system, and the tests of their differences from the first one's.

    Where there are several, p-values are adjusted over them, by metric and test (Holm).
    """
    scores = tested_differences(metrics, statistics, tests)
    if SIGN in tests.names:
        for of_system, runs in zip(scores[1:], statistics[1:]):
            for name, score in of_system.items():
                if not metrics.has_sign_test(name):
                    continue
                score.sign_test = _sign_test(metrics, name, statistics[0], runs)
    if len(scores) > 2:
        for name in metrics.names:
            adjust(of_system[name] for of_system in scores[1:])
    return scores


def _sign_test(
    metrics: MetricSet, name: str, baseline: Sequence[np.ndarray], system: Sequence[np.ndarray]
) -> SignTest:
    """Collins' sign test of one metric.

    Args:
        baseline: of each run, the statistics of all metrics (sentences × statistics).
        system: likewise.
    """
    columns = metrics.columns(name)
    return collins_sign_test(
        [run[:, columns] for run in baseline],
        [run[:, columns] for run in system],
        partial(metrics.score, name),
        metrics.higher_is_better(name),
    )
