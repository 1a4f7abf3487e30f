"""What `syntax-nmt compare` says: its figures, ready for JSON, and the tables made of them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.evaluation.translation.corpus_scores import interval_figures, run_scores, spread
from syntax_nmt.evaluation.translation.evaluated_systems import TestSet
from syntax_nmt.evaluation.translation.metrics import MetricSet
from syntax_nmt.evaluation.translation.resampling import (
    bootstrap_p_value,
    bootstrap_scores,
    interval,
    randomisation_p_values,
)
from syntax_nmt.evaluation.translation.sign_test import collins_sign_test
from syntax_nmt.evaluation.translation.text_tables import metric_name, score_cell, signature_lines
from syntax_nmt.reporting.findings import Findings, Table, p_value_text

BOOTSTRAP, RANDOMISATION, SIGN = TESTS = ("bootstrap", "randomisation", "sign")
_SIGNIFICANT = 0.05
# In tables: the head of a test's column, and what it stands for.
_COLUMNS = {
    "bootstrap": ("p boot", "paired bootstrap"),
    "randomisation": ("p rand", "approximate randomisation"),
    "sign_test": ("p sign", "sign test of Collins et al."),
}


@dataclass(frozen=True)
class Sampling:
    """Which tests, and how.

    Attributes:
        tests: some of :data:`TESTS`.
        resamples: of the bootstrap.
        trials: of approximate randomisation.
        seed: of both.
    """

    tests: tuple[str, ...]
    resamples: int
    trials: int
    seed: int

    def signature(self) -> dict[str, object]:
        """What the p-values depend on, under sacrebleu's names."""
        drawn = {"bootstrap": {"bs": self.resamples}, "randomisation": {"ar": self.trials}}
        found: dict[str, object] = {}
        for test, number in drawn.items():
            if test in self.tests:
                found.update(number, seed=self.seed)
        return found


def comparison_figures(
    metrics: MetricSet,
    test_set: TestSet,
    runs: Sequence[Sequence[np.ndarray]],
    sampling: Sampling,
) -> dict[str, Any]:
    """All figures, as objects that JSON knows.

    Args:
        test_set: the texts; the first system is the baseline.
        runs: statistics, by system and run.
    """
    systems: list[dict[str, Any]] = []
    for system, of_system in zip(test_set.systems, runs):
        scores = {
            name: {"score": statistics.mean(found), "spread": spread(found), "runs": found}
            for name, found in run_scores(metrics, of_system).items()
        }
        systems.append(
            {"name": system.name, "files": [run.name for run in system.runs], "scores": scores}
        )
    for other in systems[1:]:
        for name, item in other["scores"].items():
            item["difference"] = item["score"] - systems[0]["scores"][name]["score"]
    if BOOTSTRAP in sampling.tests:
        _add_bootstrap(metrics, systems, runs, sampling)
    if RANDOMISATION in sampling.tests:
        _add_randomisation(metrics, systems, runs, sampling)
    if SIGN in sampling.tests:
        _add_sign_test(metrics, systems, runs)
    return {
        "sentences": test_set.sentences,
        "references": [reference.name for reference in test_set.references],
        "baseline": systems[0]["name"],
        "metrics": metrics.figures(**sampling.signature()),
        "systems": systems,
    }


def _add_bootstrap(
    metrics: MetricSet,
    systems: Sequence[dict[str, Any]],
    runs: Sequence[Sequence[np.ndarray]],
    sampling: Sampling,
) -> None:
    baseline: np.ndarray | None = None
    for system, of_system in zip(systems, runs):
        found = bootstrap_scores(of_system, metrics.scores, sampling.resamples, sampling.seed)
        for i, item in enumerate(system["scores"].values()):
            item["interval"] = interval_figures(interval(found[:, i]))
            if baseline is not None:
                p_value = bootstrap_p_value(baseline[:, i], found[:, i], item["difference"])
                item["bootstrap"] = {"p_value": p_value}
        baseline = found if baseline is None else baseline


def _add_randomisation(
    metrics: MetricSet,
    systems: Sequence[dict[str, Any]],
    runs: Sequence[Sequence[np.ndarray]],
    sampling: Sampling,
) -> None:
    for system, of_system in zip(systems[1:], runs[1:]):
        found = randomisation_p_values(
            runs[0], of_system, metrics.scores, sampling.trials, sampling.seed
        )
        for item, p_value in zip(system["scores"].values(), found.tolist()):
            item["randomisation"] = {"p_value": p_value}


def _add_sign_test(
    metrics: MetricSet,
    systems: Sequence[dict[str, Any]],
    runs: Sequence[Sequence[np.ndarray]],
) -> None:
    for system, of_system in zip(systems[1:], runs[1:]):
        for name, item in system["scores"].items():
            columns = metrics.columns(name)
            found = collins_sign_test(
                [run[:, columns] for run in runs[0]],
                [run[:, columns] for run in of_system],
                partial(metrics.score, name),
                metrics.higher_is_better(name),
            )
            item["sign_test"] = {**asdict(found), "p_value": found.p_value}


def comparison_findings(figures: dict[str, Any], width: int) -> Findings:
    """A table for each metric, and the signatures.

    Args:
        figures: as :func:`comparison_figures` gives them.
        width: digits after the point of scores.
    """
    heading = (
        f"{figures['sentences']} sentences; Δ: difference from {figures['baseline']}; "
        f"* marks p < {_SIGNIFICANT}"
    )
    there = figures["systems"][1]["scores"][next(iter(figures["metrics"]))]
    legend = [f"{short}: {what}" for column, (short, what) in _COLUMNS.items() if column in there]
    notes = ["; ".join(legend), *signature_lines(figures)]
    if "sign_test" in there:
        notes.insert(1, "+/-/=: sentences that make the baseline's score better, worse, or neither")
    tables = [_table(figures, name, width) for name in figures["metrics"]]
    return Findings(figures, tables, heading, notes)


def _table(figures: dict[str, Any], name: str, width: int) -> Table:
    systems = figures["systems"]
    width += figures["metrics"][name]["more_digits"]
    columns = [column for column in _COLUMNS if column in systems[1]["scores"][name]]
    head = [metric_name(figures, name), "score", "Δ"]
    head += [_COLUMNS[column][0] for column in columns]
    if "sign_test" in columns:
        head.append("+/-/=")
    rows = []
    for system in systems:
        item = system["scores"][name]
        row = [system["name"], score_cell(item, width)]
        row.append(f"{item['difference']:+.{width}f}" if "difference" in item else NO_FIGURE)
        row += [_p_cell(item[column]["p_value"]) if column in item else "" for column in columns]
        if "sign_test" in item:
            signs = item["sign_test"]
            row.append(f"{signs['better']}/{signs['worse']}/{signs['equal']}")
        rows.append([*row, *[""] * (len(head) - len(row))])
    return Table(head, rows)


def _p_cell(p_value: float) -> str:
    """Flush right with and without the mark."""
    return f"{p_value_text(p_value)}{'*' if p_value < _SIGNIFICANT else ' '}"
