"""The result of a table, out of the records that there are."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from experiments.changes import add_changes
from experiments.compared_words import add_words
from experiments.comparisons import adjust, compare
from experiments.corpus import key_of
from experiments.runs import Row, Run, Runs, has_diverged
from experiments.table_results import FamilyResult, RowResult, RunFacts, RunMean, TableResult, Trial
from syntax_nmt.preparation.executor import OrderedMap
from syntax_nmt.scoring.scores import corpus_scores
from syntax_nmt.scoring.translations.evaluation_set import System, TestSet, Text, read_text
from syntax_nmt.scoring.translations.lengths import LengthBins
from syntax_nmt.scoring.translations.metrics import MetricSet, MetricSettings
from syntax_nmt.scoring.translations.seed_tests import spread

FACTS = ("validation_nll", "training_nll", "updates", "seconds", "tokens_per_second")


class FamilyTest:
    """A test set and the rows of a family that have translations of it.

    Args:
        place: of the test set among those of the data.
        folder: with the prepared data.
    """

    def __init__(self, runs: Runs, rows: Sequence[Row], place: int, folder: Path) -> None:
        self.runs, self.family = runs, rows[0].family
        self.rows = [row for row in rows if is_scored(done(runs, row))]
        plan, declared = runs.test_data(self.family), self.family.data
        self.name = plan["tests"][place]
        data, lengths = folder / "data" / plan["key"], runs.table.evaluation["lengths"]
        self.reference = data / "corpus" / f"{self.name}.{declared['target']}"
        self.training = [data / "corpus" / f"train.{declared[s]}" for s in ("source", "target")]
        self.source = data / "prepared" / lengths / f"test{place or ''}.{declared['source']}"

    def texts(self, row: Row, kind: str = "") -> list[Text]:
        """The translations of a row's runs, or their logs if `kind` is `log`.

        Raises:
            UserError: a record has lost its own.
        """
        kind, records = kind or self.name, self.runs.records
        return [
            Text(f"{run.name}.{kind}", tuple(map(str.rstrip, records.lines(run.key, kind))))
            for run, _ in done(self.runs, row)
        ]

    def result(self) -> FamilyResult:
        """Scores of all rows, by length too, and the comparisons of the family."""
        evaluation = self.runs.table.evaluation
        reference, source = self._text(self.reference), self._text(self.source)
        systems = tuple(System(row.system.name, tuple(self.texts(row))) for row in self.rows)
        for text in (source, *(run for system in systems for run in system.runs)):
            text.check_parallel(reference)
        test_set = TestSet(systems, (reference,), source)
        settings = MetricSettings(evaluation["tokenize"])
        metrics = MetricSet(evaluation["metrics"], settings)
        found = metrics.statistics(test_set.systems, test_set.references)
        bins = LengthBins(tuple(evaluation["bins"]))
        scores = corpus_scores(metrics, test_set, found, bins, None)
        assert scores.by_length is not None
        declared = [pair for pair in self.runs.table.comparisons if pair.family == self.family.name]
        primary = MetricSet([self.runs.table.primary], settings)
        seeds = {
            row.system.name: [run.plan["seed"] for run, _ in done(self.runs, row)]
            for row in self.rows
        }
        pairs, longer = compare(primary, test_set, declared, seeds)
        if "words_by" in evaluation:
            labels = {row.system.name: row.system.label for row in self.rows}
            kinds, tokenize = evaluation["words_by"], evaluation["tokenize"]
            add_words(pairs, test_set, labels, kinds, tokenize, self.training[1])
        return FamilyResult(
            self.name,
            self.family.name,
            scores.sentences,
            scores.metrics,
            {row.system.name: self._keys(row) for row in self.rows},
            {system.name: system.scores for system in scores.systems},
            scores.by_length.bins,
            pairs,
            longer,
            corpus=self._corpus(),
        )

    def _corpus(self) -> str:
        """Stands for the training text, whatever is prepared of it and in which direction."""
        return key_of(sorted(sha256(file.read_bytes()).hexdigest() for file in self.training))

    def _keys(self, row: Row) -> list[str]:
        return [run.key for run, _ in done(self.runs, row)]

    @staticmethod
    def _text(path: Path) -> Text:
        return Text(path.name, read_text(str(path)).sentences)


def done(runs: Runs, row: Row) -> list[tuple[Run, dict[str, Any]]]:
    """The runs of a row that have a record, with it."""
    found = [(run, runs.record(run)) for run in row.runs]
    return [(run, record) for run, record in found if record is not None]


def is_scored(found: Sequence[tuple[Run, Mapping[str, Any]]]) -> bool:
    """Whether a row has runs, all with translations: the others' mean alone would flatter it."""
    return bool(found) and not any(has_diverged(record) for _, record in found)


def family_tests(runs: Runs, folder: Path) -> Iterator[FamilyTest]:
    """Each family with each of its test sets, where some row has run."""
    rows = list(runs.rows())
    for family in runs.table.families:
        for place, _ in enumerate(runs.test_data(family)["tests"]):
            found = FamilyTest(runs, [row for row in rows if row.family is family], place, folder)
            if found.rows:
                yield found


def measure(runs: Runs, folder: Path, test_map: OrderedMap = map) -> TableResult:
    """Everything that is known of a table.

    Args:
        folder: with the prepared data.
        test_map: a `map` over the test sets of families, in several processes if it likes.
    """
    tests = list(test_map(FamilyTest.result, family_tests(runs, folder)))
    table, rows = runs.table, list(runs.rows())
    result = TableResult(
        table=table.name,
        title=table.title,
        primary=table.primary,
        decided_by=table.decided_by,
        choice=table.choice,
        rows=[_row(runs, row) for row in rows],
        tests=tests,
        trials=list(tried(runs, rows)),
    )
    if "change" in table.evaluation:
        change = table.evaluation["change"]
        add_changes(result, change["from"], change["to"])
    adjust(result.tests)
    return result


def _row(runs: Runs, row: Row) -> RowResult:
    system, records = row.system, [record for _, record in done(runs, row)]
    figures = list((row.trained or system).figures)
    chosen = [row.trained.label] if system.best_of and row.trained else []
    return RowResult(
        family=row.family.name,
        system=system.name,
        label=system.label,
        baseline=system.name == row.family.baseline,
        seeds_declared=list(system.seeds),
        seeds_done=[record["seed"] for record in records],
        seeds_diverged=[record["seed"] for record in records if has_diverged(record)],
        chosen=" ".join([*chosen, row.setting or ""]),
        published=system.published,
        parameters=records[0]["parameters"] if records else None,
        **{name: _mean([record[name] for record in records]) for name in FACTS},
        figures={
            name: _mean([record["figures"].get(name) for record in records]) for name in figures
        },
        runs=[RunFacts.from_json(record) for record in records],
    )


def tried(runs: Runs, rows: Sequence[Row]) -> Iterator[Trial]:
    """What settings, then what systems were chosen among, and whether each was taken."""
    for trials, takers in (
        (runs.trials(), rows),
        (runs.candidates(), [row for row in rows if row.system.best_of]),
    ):
        used = {run.key for row in takers for run in row.runs}
        for run in trials:
            record = runs.record(run)
            yield Trial(
                run.name,
                run.plan["options"],
                run.setting,
                record is not None,
                None if record is None else record["validation_nll"],
                run.key in used,
            )


def _mean(values: Sequence[float | None]) -> RunMean | None:
    """None where a run lacks the figure."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return RunMean(statistics.mean(known), spread(known), known)
