"""The logs of all systems: a row for each training, and curves by quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntax_nmt.pictures.report_page.training_log import INTERVAL, TRAIN, Measurement, TrainingLog

Logs = Mapping[str, Sequence[TrainingLog]]
"""Of each system, by its name."""

_LABELS = {
    "loss": "training objective",
    "nll_loss": "negative log-likelihood, bits a token",
    "uas": "UAS of supervised heads, %",
    "accuracy": "accuracy of tokens, %",
    "bleu": "BLEU",
}
_NO_RESULTS = (
    *("wps", "ups", "wpb", "bsz", "lr", "gnorm", "clip", "loss_scale", "gb_free", "train_wall"),
    *("wall", "ppl", "supervised", "update", "n_correct", "total", "cuda_gb_allocated"),
    *("cuda_gb_reserved", "cuda_gb_free"),
)
_FEW_EPOCHS = 5
_MOST_POINTS = 300


def quantities(logs: Logs) -> dict[str, str]:
    """Names of what is worth a curve, as fairseq and as people call it; the losses first.

    Speed, sizes of batches and the like are not among them, nor the perplexity, which is 2 to the
    power of the negative log-likelihood.

    Args:
        logs: of all systems.
    """
    found: dict[str, str] = {}
    for log in (log for of_system in logs.values() for log in of_system):
        for name in (name for rows in log.series.values() for row in rows for name in row.values):
            if name not in _NO_RESULTS and not name.startswith("best_"):
                found.setdefault(name, _label(name))
    first = [name for name in ("loss", "nll_loss") if name in found]
    return {name: found[name] for name in [*first, *(n for n in found if n not in first)]}


def _label(name: str) -> str:
    if name in _LABELS:
        return _LABELS[name]
    percent = ", %" if name.endswith("accuracy") else ""
    return name.replace("_", " ") + percent


def training_curve(log: TrainingLog, quantity: str) -> list[tuple[float, float]]:
    """Averages over epochs, or over shorter intervals where there are few epochs, thinned out."""
    rows = log.series.get(TRAIN, [])
    if len(rows) < _FEW_EPOCHS:
        rows = log.series.get(INTERVAL, []) or rows
    return _curve(rows, quantity)


def validation_curve(log: TrainingLog, quantity: str) -> list[tuple[float, float]]:
    """All measurements on the first validation set, thinned out."""
    return _curve(log.series[log.validation] if log.validation else [], quantity)


def _curve(rows: Sequence[Measurement], quantity: str) -> list[tuple[float, float]]:
    points = [(float(r.updates), r.values[quantity]) for r in rows if quantity in r.values]
    step = -(-len(points) // _MOST_POINTS)
    return points if step < 2 else [*points[:-1:step], points[-1]]


def training_figures(log: TrainingLog) -> dict[str, Any]:
    """The properties of a training, by name."""
    last, best = log.last, log.best()
    parameters = log.facts.get("parameters")
    return {
        "file": log.name,
        "model": log.facts.get("model"),
        "architecture": log.facts.get("architecture"),
        "criterion": log.facts.get("criterion"),
        "parameters": None if parameters is None else int(parameters.replace(",", "")),
        "epochs": last.epoch,
        "updates": last.updates,
        "finished": "done" in log.facts,
        "seconds": _seconds(log),
        "best": None if best is None else {"updates": best.updates, **best.values},
        "not_finite": sorted(
            {name for rows in log.series.values() for row in rows for name in row.not_finite}
        ),
    }


def _seconds(log: TrainingLog) -> float | None:
    """The time that fairseq says it has trained for, all starts together.

    Its clock begins anew when a training resumes; what a killed start did after the checkpoint that
    was resumed from does not count.
    """
    rows = [*log.series.get(TRAIN, []), *log.series.get(INTERVAL, [])]
    walls = [row.values["wall"] for row in sorted(rows, key=_order) if "wall" in row.values]
    ends = [wall for wall, later in zip(walls, walls[1:]) if later < wall]
    return sum([*ends, walls[-1]]) if walls else None


def _order(row: Measurement) -> tuple[int, float]:
    """The order of lines; of two with the same updates, at the end of an epoch, by the clock."""
    return row.updates, row.values.get("wall", 0.0)
