"""The page: figures, pictures and samples put into the templates of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.pictures.report_page.picture import Picture
from syntax_nmt.pictures.report_page.samples import Sample
from syntax_nmt.pictures.report_page.score_pictures import distances
from syntax_nmt.pictures.report_page.structure_pictures import StructureGroup
from syntax_nmt.scoring.translations.length_limit import longer_text
from syntax_nmt.scoring.translations.text_tables import interval_text, is_significant, p_text

_TEMPLATES = Path(__file__).with_name("templates")
_TESTS = {
    "bootstrap": "bootstrap",
    "randomisation": "randomisation",
    "sign_test": "sign test",
    "seeds": "over seeds",
}


@dataclass(frozen=True)
class ShownSample:
    """A sentence in the page.

    Attributes:
        text: source, references, translations.
        structures: of the sentence.
        open: whether its structures show without a click.
    """

    text: Sample
    structures: Sequence[StructureGroup]
    open: bool


@dataclass(frozen=True)
class Page:
    """Everything that the page says.

    Attributes:
        title: of the page.
        scores: as of `syntax-nmt score --confidence --json`.
        comparison: as of `syntax-nmt compare --json`; None = there is one system.
        width: digits after the point of scores.
        length_pictures: of scores by length.
        contrast: figures of contrastive pairs by system.
        contrast_picture: by distance.
        trainings: figures of logs by system.
        training_pictures: their curves.
        samples: sentences.
        how_chosen: a sentence about which ones.
        failed: of sections that could not be drawn, the reason.
    """

    title: str
    scores: dict[str, Any]
    comparison: dict[str, Any] | None
    width: int
    length_pictures: Sequence[Picture] = ()
    contrast: Mapping[str, Any] = field(default_factory=dict)
    contrast_picture: Picture | None = None
    trainings: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    training_pictures: Sequence[Picture] = ()
    samples: Sequence[ShownSample] = ()
    how_chosen: str = ""
    failed: Mapping[str, str] = field(default_factory=dict)

    def html(self) -> str:
        """One file that loads nothing: style and pictures stand in it, and it has no script."""
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(
            fixed=_fixed,
            signed=_signed,
            duration=_duration,
            probability=_probability,
            interval=interval_text,
        )
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return environment.get_template("page.html").render(
            known,
            sections=self._sections(),
            several_runs=any(len(system["files"]) > 1 for system in self.scores["systems"]),
            tests=self._tests(),
            validated=any(log["best"] for logs in self.trainings.values() for log in logs),
            distances=distances(dict(self.contrast)),
            longer=longer_text(self.scores["longer"]) if "longer" in self.scores else None,
        )

    def _sections(self) -> dict[str, str]:
        """Anchors and names of the sections that there are."""
        there = {
            "scores": ("Scores", True),
            "comparison": ("Comparison", self.comparison),
            "length": ("By length", "by_length" in self.scores),
            "contrast": ("Contrastive pairs", self.contrast),
            "training": ("Training", self.trainings),
            "samples": ("Samples", self.samples),
        }
        return {anchor: name for anchor, (name, is_there) in there.items() if is_there}

    def _tests(self) -> dict[str, str]:
        if self.comparison is None:
            return {}
        item = next(iter(self.comparison["systems"][1]["scores"].values()))
        return {test: label for test, label in _TESTS.items() if test in item}


def _probability(found: dict[str, Any]) -> str:
    """Marked, or with a space as wide as the mark."""
    return p_text(found) + ("*" if is_significant(found) else "\u2007")


def _fixed(value: float, width: int) -> str:
    return f"{value:.{width}f}"


def _signed(value: float, width: int) -> str:
    return f"{value:+.{width}f}".replace("-", "−")


def _duration(seconds: float | None) -> str:
    """`1 h 15 min`; below an hour `15 min 3 s`."""
    if seconds is None:
        return NO_FIGURE
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
