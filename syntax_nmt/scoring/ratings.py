"""What the marks of raters on a blind sheet say: systems compared, and agreement of the raters.

The marks of a translation count for each system that translates so. Systems are compared on the
same sentences, by the same raters: by a criterion, a rater's marks of a sentence count where all
its translations have one. Otherwise a rater who is strict, or a sentence that is hard, would count
for one system alone, and the sign test would take equal systems for different ones.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult, Result
from syntax_nmt.scoring.comparison import ComparedSystem, Comparison, compared_scores
from syntax_nmt.scoring.rating_sheet import CRITERIA, Criterion, Key, KeyItem
from syntax_nmt.scoring.translations.metrics import MetricDescription, MetricSet
from syntax_nmt.scoring.translations.paired_tests import (
    BOOTSTRAP,
    RANDOMISATION,
    SIGN,
    SignificanceTests,
)
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores

TESTS = (BOOTSTRAP, RANDOMISATION, SIGN)
_NONE_WHOLE = "no rater has marked all translations of a sentence"

Marks = Mapping[str, Mapping[str, int]]
"""Of a rater: by item and column."""


def read_marks(path: str, key: Key) -> Marks:
    """The marks of a filled sheet: a TSV file with the columns `item` and those of the criteria.

    Rows without any text, which spreadsheets append, do not count.

    Raises:
        UserError: it is of another sheet, or something is no mark; the message names the line.
    """
    rows = _rows(path)
    _, head = next(rows, ("", []))
    missing = [name for name in ("item", *_COLUMNS) if name not in head]
    if missing:
        raise UserError(f"{path}:1: has no column {missing[0]}: give a sheet of syntax-nmt rate")
    twice = [name for name in ("item", *_COLUMNS) if head.count(name) > 1]
    if twice:
        raise UserError(f"{path}:1: has the column {twice[0]} twice: leave one out")
    known = {each.item for each in key.items}
    found: dict[str, dict[str, int]] = {}
    for where, row in rows:
        if not any(map(str.strip, row)):
            continue
        cells = dict(zip(head, row))
        item = cells.get("item", "").strip()
        if item not in known:
            raise UserError(f"{where}: the key has no item {item!r}: give marks of this sheet")
        if item in found:
            raise UserError(f"{where}: {item} is there for the second time: leave one out")
        found[item] = dict(_marks(cells, where))
    if not any(found.values()):
        raise UserError(f"{path}: has no marks: fill in the columns {', '.join(_COLUMNS)}")
    return found


def _rows(path: str) -> Iterator[tuple[str, list[str]]]:
    """The cells of each row of a TSV file, after where it stands."""
    rows = csv.reader(read_lines(path), "excel-tab")
    try:
        for row in rows:
            yield f"{path}:{rows.line_num}", row
    except csv.Error as error:
        raise UserError(
            f"{path}:{rows.line_num}: no row of a table ({error}): save the sheet as "
            "tab-separated text in UTF-8"
        ) from None


_COLUMNS = tuple(criterion.column for criterion in CRITERIA)


def _marks(cells: Mapping[str, str], where: str) -> Iterator[tuple[str, int]]:
    """The marks of a row; an empty cell is none."""
    for criterion in CRITERIA:
        text = cells.get(criterion.column, "").strip()
        if text:
            if text not in map(str, range(criterion.highest + 1)):
                raise UserError(
                    f"{where}: {criterion.column} is {text!r}: give a whole number from 0 to "
                    f"{criterion.highest}, or nothing"
                )
            yield criterion.column, int(text)


@dataclass
class Agreement(Result):
    """How far two raters agree.

    Attributes:
        criterion: its name.
        raters: both.
        items: that both marked.
        same: in percent, items with the same mark.
        kappa: Cohen's κ; None where chance alone makes all marks the same.
        weighted_kappa: with quadratic weights, of marks from 0 to 5; None of others.
    """

    criterion: str
    raters: list[str]
    items: int
    same: float
    kappa: float | None
    weighted_kappa: float | None


@dataclass
class Ratings(CommandResult):
    """What raters think of systems.

    Attributes:
        sheet: its name.
        items: on it.
        marked: how many of them each rater marked, by name.
        comparison: of the systems, by criterion that has marks of all translations of a sentence;
            a sentence has the mean of its raters' marks.
        agreement: of each pair of raters, by criterion; none of a single rater.
    """

    sheet: str
    items: int
    marked: dict[str, int]
    comparison: Comparison
    agreement: list[Agreement]

    def findings(self, digits: int = 2) -> Findings:
        """Tables of the criteria, and one of agreement."""
        found = self.comparison.findings(digits)
        tables = list(found.tables)
        if self.agreement:
            rows = [
                [
                    each.criterion,
                    " and ".join(each.raters),
                    str(each.items),
                    f"{each.same:.1f}",
                    *(
                        NO_FIGURE if kappa is None else f"{kappa:.2f}"
                        for kappa in (each.kappa, each.weighted_kappa)
                    ),
                ]
                for each in self.agreement
            ]
            head = ["agreement", "raters", "items", "same %", "κ", "weighted κ"]
            tables.append(Table(head, rows, names=2))
        counts = ", ".join(f"{name} {count}" for name, count in self.marked.items())
        notes = [f"items marked, of {self.items}: {counts}"]
        missing = [each.name for each in CRITERIA if each.name not in self.comparison.metrics]
        if missing:
            notes.append(f"{', '.join(missing)}: {_NONE_WHOLE}")
        notes += found.notes
        return Findings(tables, found.heading, notes)


def rate(key: Key, marks: Mapping[str, Marks], tests: SignificanceTests) -> Ratings:
    """Compares the systems of a sheet by the marks of raters.

    Args:
        marks: of each rater, by name.

    Raises:
        UserError: no sentence can be compared.
    """
    raters = list(marks.values())
    items: dict[int, list[KeyItem]] = {}
    for each in key.items:
        items.setdefault(each.line, []).append(each)
    rated = [
        of_line
        for of_line in items.values()
        if any(_whole_marks(of_line, raters, criterion) for criterion in CRITERIA)
    ]
    if not rated:
        raise UserError(f"{', '.join(marks)}: {_NONE_WHOLE}: fill in more of the sheet")
    metrics: dict[str, MetricDescription] = {}
    systems = [ComparedSystem(name, [], {}) for name in key.systems]
    for criterion in CRITERIA:
        found = _scores(key.systems, rated, raters, criterion)
        if found is not None:
            # Apart from the others, as tests draw among the sentences that have marks.
            alone = MetricSet((), given=found)
            metrics |= alone.descriptions(**tests.signature())
            scores = compared_scores(alone, found.statistics(), tests)
            for system, of_system in zip(systems, scores):
                system.scores |= of_system
    comparison = Comparison(len(rated), [], key.systems[0], metrics, systems)
    marked = {name: sum(map(bool, of_rater.values())) for name, of_rater in marks.items()}
    return Ratings(key.sheet, len(key.items), marked, comparison, [*_agreement(marks)])


def _whole_marks(
    items: Sequence[KeyItem], marks: Sequence[Marks], criterion: Criterion
) -> list[list[int]]:
    """The marks of each rater who marked all translations of a sentence, its items."""
    rows = [[of_rater.get(each.item, {}) for each in items] for of_rater in marks]
    return [
        [row[criterion.column] for row in of_rater]
        for of_rater in rows
        if all(criterion.column in row for row in of_rater)
    ]


def _scores(
    systems: Sequence[str],
    items: Sequence[Sequence[KeyItem]],
    marks: Sequence[Marks],
    criterion: Criterion,
) -> SentenceScores | None:
    """The mean marks of the sentences by system, by raters who marked all of a sentence.

    A sentence without such raters is left out. None = there are no others.

    Args:
        items: the translations of each sentence.
    """
    unit = 100 if criterion.highest == 1 else 1
    values: dict[str, list[float]] = {name: [] for name in systems}
    count = 0
    for of_line in items:
        whole = _whole_marks(of_line, marks, criterion)
        if whole:
            count += 1
            for each, mean in zip(of_line, unit * np.mean(whole, axis=0)):
                for name in each.systems:
                    values[name].append(float(mean))
    if not count:
        return None
    about = "percent of translations" if criterion.highest == 1 else f"0 to {criterion.highest}"
    return SentenceScores(
        criterion.name,
        criterion.higher_is_better,
        [[np.array(values[name])] for name in systems],
        about=f"mean of the raters over {count} sentences, {about}",
    )


def _agreement(marks: Mapping[str, Marks]) -> Iterator[Agreement]:
    for criterion in CRITERIA:
        for pair in combinations(marks, 2):
            one, other = (
                {
                    item: row[criterion.column]
                    for item, row in marks[rater].items()
                    if criterion.column in row
                }
                for rater in pair
            )
            common = [item for item in one if item in other]
            if common:
                both = [(one[item], other[item]) for item in common]
                same = 100 * sum(a == b for a, b in both) / len(both)
                weighted = cohens_kappa(both, quadratic=True) if criterion.highest > 1 else None
                plain = cohens_kappa(both)
                yield Agreement(criterion.name, list(pair), len(both), same, plain, weighted)


def cohens_kappa(marks: Sequence[tuple[int, int]], quadratic: bool = False) -> float | None:
    """κ of two raters (Cohen, 1960 and 1968): 1 − observed / expected disagreement.

    Args:
        marks: of each item, those of both, from 0.
        quadratic: disagreement is the squared difference, and not 1.

    Returns:
        None where no disagreement is expected.
    """
    table = np.zeros([max(map(max, marks)) + 1] * 2)
    np.add.at(table, tuple(np.transpose(marks)), 1 / len(marks))
    row, column = np.indices(table.shape)
    disagreement = (row - column) ** 2 if quadratic else row != column
    expected = (disagreement * np.outer(table.sum(axis=1), table.sum(axis=0))).sum()
    return float(1 - (disagreement * table).sum() / expected) if expected else None


def rater_names(paths: Sequence[str]) -> list[str]:
    """The names of raters: those of their files without the ending.

    Raises:
        UserError: two are the same.
    """
    names = [Path(path).stem for path in paths]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UserError(f"{paths[place]}: two raters called {name}: name the files after them")
    return names
