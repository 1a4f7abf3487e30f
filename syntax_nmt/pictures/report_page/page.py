"""The page: figures, pictures and samples put into the templates of this folder; a rater's page."""

from pathlib import Path

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
from syntax_nmt.scoring.rating_sheet import CRITERIA, Sheet
from syntax_nmt.scoring.translations.results import balanced_notes, interval_text, signed
from syntax_nmt.scoring.translations.significance import DifferenceTest
from syntax_nmt.scoring.words.bucket_tables import comparison_tables, score_tables, word_notes

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
    environment = _environment()
    environment.filters.update(
        fixed=_fixed,
        signed=_signed,
        duration=_duration,
        probability=_probability,
        interval=interval_text,
    )
    scores, comparison = data.scores, data.comparison
    tables_of = score_tables if comparison is None else comparison_tables
    trainings = {name: [training_figures(log) for log in logs] for name, logs in data.logs.items()}
    sections = {
        "scores": ("Scores", True),
        "comparison": ("Comparison", comparison),
        "length": ("By length", scores.by_length),
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
        several_runs=any(len(system.files) > 1 for system in scores.systems),
        tests={} if comparison is None else {t: _TESTS[t] for t in comparison.tests_made()},
        longer=scores.longer,
        balanced=list(balanced_notes(scores.systems)),
        length_pictures=length_pictures(scores, pictures),
        word_pictures=word_pictures(data.words, pictures),
        word_tables=tables_of(data.words, digits),
        word_notes=word_notes(data.words),
        trainings=trainings,
        validated=any(log.best for logs in trainings.values() for log in logs),
        training_pictures=training_pictures(data.logs, pictures),
        samples=[
            (sample, structure_groups(data.structures, sample.position, pictures))
            for sample in data.samples
        ],
    )
    return without_controls(page)


def rating_html(sheet: Sheet) -> str:
    """The page on which a rater marks the translations of a sheet.

    It loads nothing; a script keeps the marks in the browser and saves them as a file.
    """
    page = _environment().get_template("rating.html").render(sheet=sheet, criteria=CRITERIA)
    return without_controls(page)


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _probability(test: DifferenceTest | None) -> str:
    if test is None:  # none of this metric
        return NO_FIGURE
    return test.marked_p(unmarked="\u2007")  # a space as wide as the mark


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
