"""The output of `syntax-nmt score`: figures for JSON, and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.scoring.translations.corpus_measures import CorpusMeasures
from syntax_nmt.scoring.translations.lengths import USUAL, LengthBins, longer_text
from syntax_nmt.scoring.translations.linearised_output import balanced_notes
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED, bootstrap_scores, interval
from syntax_nmt.scoring.translations.seed_tests import spread
from syntax_nmt.scoring.translations.test_set import System, TestSet, Text
from syntax_nmt.scoring.translations.text_tables import metric_name, score_cell, signature_lines


@dataclass(frozen=True)
class Confidence:
    """How intervals are estimated.

    Attributes:
        resamples: number of resampled test sets.
        seed: of the draws.
    """

    resamples: int = RESAMPLES
    seed: int = SEED


def score_figures(
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Sequence[Sequence[np.ndarray]],
    bins: LengthBins,
    confidence: Confidence | None,
) -> dict[str, Any]:
    """All figures, as objects that JSON knows.

    Args:
        test_set: without a source there are no scores by length and no counts of overlong
            translations.
        statistics: of sentences, by system and run (sentences × statistics).
        confidence: None = no intervals.
    """
    extra = {} if confidence is None else {"bs": confidence.resamples, "seed": confidence.seed}
    figures: dict[str, Any] = {
        "sentences": test_set.sentences,
        "references": [reference.name for reference in test_set.references],
        "metrics": metrics.figures(**extra),
        "systems": [
            _system_figures(metrics, system, of_system, confidence)
            for system, of_system in zip(test_set.systems, statistics)
        ],
    }
    if test_set.source is not None:
        figures["by_length"] = {
            "tokens_of": test_set.source.name,
            "bins": _length_figures(
                metrics, test_set, test_set.source, statistics, bins, confidence
            ),
        }
        figures["longer"] = USUAL.figures(test_set)
    return figures


def _system_figures(
    metrics: MetricSet,
    system: System,
    statistics: Sequence[np.ndarray],
    confidence: Confidence | None,
) -> dict[str, Any]:
    scores = scores_with_intervals(metrics, statistics, confidence)
    details = [metrics.details(run.sum(axis=0).tolist()) for run in statistics]
    for name, of_runs in metrics.run_scores(statistics).items():
        scores[name]["runs"] = of_runs
        if name in details[0]:
            scores[name]["details"] = [detail[name] for detail in details]
    return system.figures(scores)


def scores_with_intervals(
    metrics: CorpusMeasures, statistics: Sequence[np.ndarray], confidence: Confidence | None
) -> dict[str, dict[str, Any]]:
    """By metric the mean of the runs, their spread, and optionally an interval.

    Args:
        statistics: of each run, sentences × statistics.
        confidence: None = no intervals.
    """
    found: dict[str, dict[str, Any]] = {
        name: {"score": mean(of_runs), "spread": spread(of_runs), "interval": None}
        for name, of_runs in metrics.run_scores(statistics).items()
    }
    if confidence is not None:
        drawn = bootstrap_scores(
            statistics, metrics.score_rows, confidence.resamples, confidence.seed
        )
        for item, column in zip(found.values(), drawn.mean(axis=1).T):
            item["interval"] = interval(column)
    return found


def _length_figures(
    metrics: MetricSet,
    test_set: TestSet,
    source: Text,
    statistics: Sequence[Sequence[np.ndarray]],
    bins: LengthBins,
    confidence: Confidence | None,
) -> list[dict[str, Any]]:
    members = bins.members([len(line.split()) for line in source.sentences])
    groups = []
    for label, (low, high), positions in zip(bins.labels, bins.bounds(), members):
        scores: dict[str, Any] = {name: {} for name in metrics.names}
        for system, of_system in zip(test_set.systems, statistics):
            of_group = [run[positions] for run in of_system]
            nothing = dict.fromkeys(("score", "spread", "interval"))
            found = scores_with_intervals(metrics, of_group, confidence) if len(positions) else {}
            for name in metrics.names:
                scores[name][system.name] = found.get(name, nothing)
        groups.append(
            {"label": label, "from": low, "to": high, "sentences": len(positions), "scores": scores}
        )
    return groups


def score_findings(figures: dict[str, Any], digits: int) -> Findings:
    """The tables, the corpus first, and the signatures.

    Args:
        figures: as :func:`score_figures` gives them.
        digits: after the point.
    """
    tables = [_corpus_table(figures, digits)]
    if "by_length" in figures:
        tables += [_length_table(figures, name, digits) for name in figures["metrics"]]
    references = len(figures["references"])
    heading = f"{figures['sentences']} sentences, {references} reference{'s' * (references > 1)}"
    longer = [longer_text(figures["longer"])] if "longer" in figures else []
    notes = [*balanced_notes(figures["systems"]), *longer, *signature_lines(figures)]
    return Findings(figures, tables, heading, notes)


def _corpus_table(figures: dict[str, Any], digits: int) -> Table:
    systems = figures["systems"]
    head = ["system"]
    rows = [[system["name"]] for system in systems]
    for name in figures["metrics"]:
        head.append(metric_name(figures, name))
        of_metric = digits + figures["metrics"][name]["more_digits"]
        for row, system in zip(rows, systems):
            row.append(score_cell(system["scores"][name], of_metric))
        if name == "BLEU":  # its brevity penalty is named, always
            head += ["BP", "length ratio"]
            for row, system in zip(rows, systems):
                details = system["scores"][name]["details"]
                for figure in ("brevity_penalty", "length_ratio"):
                    row.append(f"{mean(run[figure] for run in details):.3f}")
    if any(len(system["files"]) > 1 for system in systems):
        head.insert(1, "runs")
        for row, system in zip(rows, systems):
            row.insert(1, str(len(system["files"])))
    return Table(head, rows)


def _length_table(figures: dict[str, Any], name: str, digits: int) -> Table:
    systems = [system["name"] for system in figures["systems"]]
    digits += figures["metrics"][name]["more_digits"]
    rows = [
        [
            group["label"],
            str(group["sentences"]),
            *(score_cell(group["scores"][name][system], digits) for system in systems),
        ]
        for group in figures["by_length"]["bins"]
    ]
    tokens_of = figures["by_length"]["tokens_of"]
    title = f"{metric_name(figures, name)} by length, in tokens of {tokens_of}"
    return Table(["length", "sentences", *systems], rows, title)
