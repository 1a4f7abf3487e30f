"""The page: figures, pictures and samples put into the templates of this folder."""

from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.pictures.plots.figure_file import without_controls
from syntax_nmt.pictures.report_page.picture import (
    Pictures,
    length_pictures,
    training_pictures,
    word_pictures,
)
from syntax_nmt.pictures.report_page.report_data import ReportData
from syntax_nmt.pictures.report_page.structure_pictures import structure_groups
from syntax_nmt.reporting.training_log import training_figures
from syntax_nmt.scoring.translations.lengths import longer_text
from syntax_nmt.scoring.translations.linearised_output import balanced_notes
from syntax_nmt.scoring.translations.text_tables import interval_text, marked_p, signed
from syntax_nmt.scoring.words.word_tables import comparison_tables, score_tables, word_notes

_TEMPLATES = Path(__file__).with_name("templates")
_TESTS = {
    "bootstrap": "bootstrap",
    "randomisation": "randomisation",
    "sign_test": "sign test",
    "seeds": "over seeds",
    "blocks": "seeds as blocks",
}


def page_html(
    data: ReportData, pictures: Pictures, title: str, digits: int, how_chosen: str
) -> str:
    """One file that loads nothing: it contains style and pictures, and no script.

    Args:
        pictures: what makes pictures.
        digits: after the point of scores.
        how_chosen: a sentence about which samples are shown.
    """
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
        probability=partial(marked_p, unmarked="\u2007"),  # a space as wide as the mark
        interval=interval_text,
    )
    scores, comparison = data.scores, data.comparison
    tables_of = score_tables if comparison is None else comparison_tables
    trainings = {name: [training_figures(log) for log in logs] for name, logs in data.logs.items()}
    sections = {
        "scores": ("Scores", True),
        "comparison": ("Comparison", comparison),
        "length": ("By length", "by_length" in scores),
        "words": ("Words", data.words),
        "training": ("Training", trainings),
        "samples": ("Samples", data.samples),
    }
    page = environment.get_template("page.html").render(
        title=title,
        digits=digits,
        how_chosen=how_chosen,
        scores=scores,
        comparison=comparison,
        sections={anchor: name for anchor, (name, there) in sections.items() if there},
        several_runs=any(len(system["files"]) > 1 for system in scores["systems"]),
        tests={} if comparison is None else _tests(comparison),
        longer=longer_text(scores["longer"]) if "longer" in scores else None,
        balanced=balanced_notes(scores["systems"]),
        length_pictures=length_pictures(scores, pictures) if "by_length" in scores else [],
        word_pictures=word_pictures(data.words, pictures),
        word_tables=tables_of(data.words, digits),
        word_notes=word_notes(data.words),
        trainings=trainings,
        validated=any(log["best"] for logs in trainings.values() for log in logs),
        training_pictures=training_pictures(data.logs, pictures),
        samples=[
            (sample, structure_groups(data.structures, sample.position, pictures))
            for sample in data.samples
        ],
    )
    return without_controls(page)


def _tests(comparison: dict[str, Any]) -> dict[str, str]:
    item = next(iter(comparison["systems"][1]["scores"].values()))
    return {test: label for test, label in _TESTS.items() if test in item}


def _fixed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    return signed(value, digits).replace("-", "−")


def _duration(seconds: float | None) -> str:
    """`1 h 15 min`; below an hour `15 min 3 s`."""
    if seconds is None:
        return NO_FIGURE
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
