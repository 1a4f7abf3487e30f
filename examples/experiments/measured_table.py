"""The figures of a table, out of the records that there are; ready for JSON."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.holm import holm
from experiments.runs import Row, Run, Runs
from experiments.table_config import Family
from syntax_nmt.data.text_files import NEWLINE_ONLY, read_lines
from syntax_nmt.evaluation.translation.comparison import Sampling, comparison_figures
from syntax_nmt.evaluation.translation.corpus_scores import spread
from syntax_nmt.evaluation.translation.evaluated_systems import (
    System,
    TestSet,
    Text,
    check_parallel,
    read_text,
)
from syntax_nmt.evaluation.translation.length_bins import LengthBins
from syntax_nmt.evaluation.translation.metrics import MetricSet, MetricSettings
from syntax_nmt.evaluation.translation.resampling import SEED, TRIALS
from syntax_nmt.evaluation.translation.score_report import score_figures

_FACTS = ("validation_nll", "training_nll", "updates", "seconds", "tokens_per_second")
_MACHINE = ("commit", "data_checksum", "device", "cpu", "threads", "versions")


class MeasuredTable:
    """A table and what its runs gave.

    Args:
        runs: of the table.
        folder: with the prepared data.
    """

    def __init__(self, runs: Runs, folder: Path) -> None:
        self.runs, self.table = runs, runs.table
        self.rows = list(runs.rows())
        self._data = {name: folder / "data" / plan["key"] for name, plan in runs.data.items()}

    def figures(self) -> dict[str, Any]:
        """Everything that is known."""
        rows = [self._row(row) for row in self.rows]
        families = [
            {"name": family.name, "tests": self._tests(family)} for family in self.table.families
        ]
        _adjust(families)
        return {
            "table": self.table.name,
            "title": self.table.title,
            "primary": self.table.primary,
            "chosen_by": "validation nll",
            "rows": rows,
            "families": families,
            "trials": self._trials(),
        }

    def done(self, row: Row) -> list[tuple[Run, dict[str, Any]]]:
        """The runs of a row that have a record.

        Args:
            row: of the table.
        """
        found = [(run, self.runs.record(run)) for run in row.runs]
        return [(run, record) for run, record in found if record is not None]

    def _row(self, row: Row) -> dict[str, Any]:
        records = [record for _, record in self.done(row)]
        figures = list((row.trained or row.system).figures)
        names = [*_FACTS, *figures]
        facts = {name: _mean([_fact(record, name) for record in records]) for name in names}
        return {
            "family": row.family.name,
            "system": row.system.name,
            "label": row.system.label,
            "baseline": row.system.name == row.family.baseline,
            "seeds_declared": list(row.system.seeds),
            "seeds_done": [record["seed"] for record in records],
            "setting": _setting(row),
            "published": row.system.published,
            "parameters": records[0]["parameters"] if records else None,
            **facts,
            "figures": figures,
            "runs": [
                {name: record[name] for name in ("seed", "key", *_MACHINE)} for record in records
            ],
        }

    def _tests(self, family: Family) -> list[dict[str, Any]]:
        """Scores of a family's systems on each test set, where the baseline has run beside it."""
        rows = [row for row in self.rows if row.family is family and self.done(row)]
        return [
            {"test": test, **self._scores(rows, test, i)}
            for i, test in enumerate(self.runs.data[family.name]["tests"])
            if rows
        ]

    def test_files(self, family: Family, place: int) -> tuple[Path, Path]:
        """Reference, and the source that lengths are counted on.

        Args:
            family: whose data it is.
            place: of the test set.
        """
        data, declared = self._data[family.name], family.data
        test = self.runs.data[family.name]["tests"][place]
        lengths = data / "prepared" / self.table.evaluation["lengths"]
        return (
            data / "corpus" / f"{test}.{declared['target']}",
            lengths / f"test{place or ''}.{declared['source']}",
        )

    def output_file(self, run: Run, test: str) -> Path:
        """The translations of a run.

        Args:
            run: that is done.
            test: name of the test set, or `log`.
        """
        return self.runs.record_file(run).with_suffix(f".{test}.gz")

    def _scores(self, rows: Sequence[Row], test: str, place: int) -> dict[str, Any]:
        reference, source = map(_text, self.test_files(rows[0].family, place))
        systems = tuple(
            System(row.system.name, tuple(self._output(run, test) for run, _ in self.done(row)))
            for row in rows
        )
        for system in systems:
            for run in system.runs:
                check_parallel(run, reference)
        test_set = TestSet(systems, (reference,), None)
        evaluation = self.table.evaluation
        metrics = MetricSet(evaluation["metrics"], MetricSettings(evaluation["tokenize"]))
        found = test_set.by_system(metrics.statistics(test_set.outputs, [reference.sentences]))
        bins = LengthBins(tuple(evaluation["bins"]))
        figures = score_figures(metrics, test_set, found, source, bins, None)
        scores = {system["name"]: system["scores"] for system in figures["systems"]}
        baseline = rows[0].family.baseline
        if systems[0].name == baseline:
            sampling = Sampling(("randomisation",), 0, TRIALS, SEED)
            compared = comparison_figures(metrics, test_set, found, sampling)
            for system in compared["systems"][1:]:
                for metric, item in system["scores"].items():
                    mine = scores[system["name"]][metric]
                    mine["difference"] = item["difference"]
                    mine["p_value"] = item["randomisation"]["p_value"]
        return {
            "sentences": figures["sentences"],
            "metrics": figures["metrics"],
            "baseline": baseline,
            "trials": TRIALS,
            "systems": scores,
            "by_length": figures["by_length"]["bins"],
        }

    def _output(self, run: Run, test: str) -> Text:
        return Text(f"{run.name} on {test}", read_text(str(self.output_file(run, test))).sentences)

    def _trials(self) -> list[dict[str, Any]]:
        """What settings and systems were chosen by."""
        chosen = {run.key for row in self.rows for run in row.runs}
        found = []
        for run in [*self.runs.trials(), *self.runs.candidates()]:
            record = self.runs.record(run)
            found.append(
                {
                    "run": run.name,
                    "options": run.plan["options"],
                    "validation_nll": record and record["validation_nll"],
                    "chosen": run.key in chosen,
                }
            )
        return found


def _adjust(families: Sequence[Mapping[str, Any]]) -> None:
    """Holm's adjustment over all systems of the table, for each test set and metric."""
    items: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for family in families:
        for test in family["tests"]:
            for scores in test["systems"].values():
                for metric, item in scores.items():
                    if "p_value" in item:
                        items.setdefault((test["test"], metric), []).append(item)
    for compared in items.values():
        for item, adjusted in zip(compared, holm([item["p_value"] for item in compared])):
            item["p_holm"] = adjusted


def _setting(row: Row) -> str | None:
    """What was chosen for a row, by name and options."""
    if row.trained is None or row.setting is None:
        return None
    chosen = [row.trained.label] if row.system.best_of else []
    return " ".join([*chosen, *row.setting])


def _fact(record: Mapping[str, Any], name: str) -> float | None:
    return record["figures"].get(name, record.get(name))


def _mean(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Mean, standard deviation and the values; None where a record has none."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return {"mean": statistics.mean(known), "spread": spread(known), "runs": known}


def _text(path: Path) -> Text:
    return Text(path.name, tuple(line.rstrip() for line in read_lines(path, NEWLINE_ONLY)))
