"""Pictures of figures: scores by length, trainings."""

from __future__ import annotations

from typing import Any

from syntax_nmt.pictures.report_page.picture import Picture, Pictures
from syntax_nmt.pictures.report_page.training_summary import (
    Logs,
    quantities,
    training_curve,
    validation_curve,
)


def length_pictures(scores: dict[str, Any], pictures: Pictures) -> list[Picture]:
    """One picture a metric, one curve a system.

    Args:
        scores: of `score_report.score_figures`.
        pictures: what makes pictures.
    """
    from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves, score_point

    bins = scores["by_length"]["bins"]
    groups = [Group(each["label"], each["sentences"]) for each in bins]
    found = []
    for metric in scores["metrics"]:
        curves: dict[str, list[Point | None]] = {}
        for system in scores["systems"]:
            name = system["name"]
            curves[name] = [score_point(each["scores"][metric][name]) for each in bins]
        figure = draw_curves(groups, curves, "tokens of the source", metric)
        caption = f"{metric} by length of the source, with 95 % intervals"
        found.append(pictures.add(figure, caption, f"{caption}; the numbers are in the table"))
    return found


def training_pictures(logs: Logs, pictures: Pictures) -> list[Picture]:
    """One picture for each loss and accuracy that the logs have.

    Args:
        logs: of all systems.
        pictures: what makes pictures.
    """
    from syntax_nmt.pictures.plots.training_curves import TrainingRun, draw_training

    found = []
    for quantity, label in quantities(logs).items():
        runs = {
            name: [
                TrainingRun(training_curve(log, quantity), validation_curve(log, quantity))
                for log in of_system
            ]
            for name, of_system in logs.items()
        }
        caption = f"{label[0].upper()}{label[1:]}, by updates"
        description = f"{caption}: {_ends(runs)}"
        found.append(pictures.add(draw_training(runs, label), caption, description))
    return found


def _ends(runs: dict[str, list[Any]]) -> str:
    """Where the curves end, in words."""
    parts = []
    for name, of_system in runs.items():
        for run in of_system:
            curve, kind = (
                (run.validation, "validation") if run.validation else (run.training, "training")
            )
            if curve:
                parts.append(f"{name} ends at {curve[-1][1]:g} ({kind})")
    return "; ".join(parts)
