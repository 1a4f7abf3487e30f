"""Pictures in the page: SVG with a description; scores by length, words, and trainings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from syntax_nmt.pictures.plots.dot_rows import draw_dots
from syntax_nmt.pictures.plots.figure_file import svg_text, unshown
from syntax_nmt.pictures.plots.fonts import advice
from syntax_nmt.pictures.plots.group_curves import Group, Point, draw_curves, score_point
from syntax_nmt.pictures.plots.training_curves import TrainingRun, draw_training
from syntax_nmt.pictures.plots.word_dots import word_dots
from syntax_nmt.reporting.training_log import Logs, quantities, training_curve, validation_curve
from syntax_nmt.scoring.scores import Scores
from syntax_nmt.scoring.words.bucket_tables import BucketTable

_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_TITLE = re.compile(r"\s*<title>.*?</title>", re.DOTALL)
_WIDTH = re.compile(r'\bwidth="([0-9.]+)pt"')
_LEAST = 0.8  # curves on narrow screens; smaller ones scroll


@dataclass(frozen=True)
class Picture:
    """A picture and its words.

    Attributes:
        svg: an element of the page.
        caption: below the picture.
    """

    svg: Markup
    caption: str


class Pictures:
    """Makes figures into pictures whose ids differ, even those of the same figure twice."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.unshown: set[str] = set()

    def notes(self) -> list[str]:
        """Notes for the user about the pictures so far."""
        return [advice("".join(sorted(self.unshown)))] if self.unshown else []

    def add(self, figure: Figure, caption: str, description: str) -> Picture:
        """A picture for the page.

        Args:
            caption: below the picture.
            description: what it shows, for those who do not see it.
        """
        self.unshown.update(unshown(figure))
        text = svg_text(figure, f"p{next(self._numbers)}")
        text = _TITLE.sub("", _METADATA.sub("", text), count=1)
        width = _WIDTH.search(text)
        least = f"--least: {_LEAST * float(width[1]):.0f}pt" if width else ""
        label = f'<svg role="img" aria-label="{escape(description)}" style="{least}" '
        return Picture(Markup(text.replace("<svg ", label, 1)), caption)


def length_pictures(scores: Scores, pictures: Pictures) -> list[Picture]:
    """One picture a metric, one curve a system; none where lengths are not known.

    Args:
        pictures: what makes pictures.
    """
    if scores.by_length is None:
        return []
    bins = scores.by_length.bins
    groups = [Group(each.label, each.sentences) for each in bins]
    found = []
    for metric in scores.metrics:
        curves: dict[str, list[Point | None]] = {}
        for system in scores.systems:
            of_system = [each.scores[metric][system.name] for each in bins]
            curves[system.name] = list(map(score_point, of_system))
        figure = draw_curves(groups, curves, "tokens of the source", metric)
        caption = f"{metric} by length of the source, with 95 % intervals"
        found.append(pictures.add(figure, caption, f"{caption}; the numbers are in the table"))
    return found


def word_pictures(tables: Sequence[BucketTable], pictures: Pictures) -> list[Picture]:
    """One picture for each kind of buckets that has one with enough words.

    Args:
        pictures: what makes pictures.
    """
    found = []
    for table in tables:
        dots = word_dots(table)
        if dots.groups:
            caption = f"{table}{', with 95 % intervals' * dots.barred}"
            figure = draw_dots(dots.groups, dots.systems, dots.about)
            found.append(pictures.add(figure, caption, f"{caption}; the numbers are in the table"))
    return found


def training_pictures(logs: Logs, pictures: Pictures) -> list[Picture]:
    """One picture for each loss and accuracy that the logs have.

    Args:
        logs: of all systems.
        pictures: what makes pictures.
    """
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
