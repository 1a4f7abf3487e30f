"""Tables of words by bucket, made of the figures that go into JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Table
from syntax_nmt.scoring.translations.comparison import INTERVAL, TEST_COLUMNS
from syntax_nmt.scoring.translations.text_tables import (
    adjusted,
    interval_text,
    marked_p,
    p_text,
    score_cell,
    signed,
)
from syntax_nmt.scoring.words.counts import OF_REFERENCE, SOURCE
from syntax_nmt.scoring.words.matches import F1, RECALL

Figures = Mapping[str, Any]
_NAMES = {F1: "F1", RECALL: "recall"}
SIDES = {SOURCE: "words linked to source words", "reference": "words"}


def score_tables(tables: Sequence[Figures], digits: int) -> list[Table]:
    """For each kind of buckets a table for each system.

    Args:
        tables: of `word_figures.score_words`.
        digits: after the point.
    """
    return [
        _score_table(table, place, digits)
        for table in tables
        for place in range(len(table["buckets"][0]["systems"]))
    ]


def comparison_tables(tables: Sequence[Figures], digits: int) -> list[Table]:
    """For each kind of buckets a table for each system but the first, the baseline.

    Args:
        tables: of `word_figures.compare_words`.
        digits: after the point.
    """
    return [
        _comparison_table(table, place, digits)
        for table in tables
        for place in range(1, len(table["buckets"][0]["systems"]))
    ]


def word_notes(tables: Sequence[Figures]) -> list[str]:
    """What the tables leave out."""
    return [note for table in tables for note in _notes(table)]


def _notes(table: Figures) -> Iterator[str]:
    by = table["by"]
    if any(not bucket["tested"] for bucket in table["buckets"]):
        yield f"{by}: no interval and no test of buckets below {table['least_words']} words"
    if table["words_without_bucket"]:
        why = "linked to no source word with a label" if table["side"] == SOURCE else "no label"
        yield f"{by}: {table['words_without_bucket']} words of the reference have no bucket: {why}"
    if table["labels_of_output"] == OF_REFERENCE:
        yield f"{by}: a translation's word has the reference's label, or none: recall is compared"


def measure_text(table: Figures) -> str:
    """What a table is about: `F1 of words by upos`.

    Args:
        table: one kind of buckets.
    """
    return f"{_NAMES[table['measure']]} of {SIDES[table['side']]} by {table['by']}"


def _score_table(table: Figures, place: int, digits: int) -> Table:
    by, measure = table["by"], table["measure"]
    shares = [RECALL] if table["side"] == SOURCE else ["precision", RECALL, F1]
    rows = []
    for bucket in table["buckets"]:
        system = bucket["systems"][place]
        cells = [
            score_cell(system, digits) if share == measure else f"{system[share]:.{digits}f}"
            for share in shares
        ]
        rows.append([bucket["bucket"], str(bucket["words"]), *cells])
    name = table["buckets"][0]["systems"][place]["name"]
    head = [by, "words", *(_NAMES.get(share, share) for share in shares)]
    return Table(head, rows, f"{SIDES[table['side']]} by {by}: {name}")


def _comparison_table(table: Figures, place: int, digits: int) -> Table:
    buckets = table["buckets"]
    baseline, system = buckets[0]["systems"][0], buckets[0]["systems"][place]
    made = {test for bucket in buckets for test in bucket["systems"][place]}
    tests = [test for test in TEST_COLUMNS if test in made]
    head = [table["by"], "words", baseline["name"], system["name"], "Δ"]
    head += [TEST_COLUMNS[test][0] for test in tests]
    intervals = any(_has_interval(bucket["systems"][place]) for bucket in buckets)
    head += [INTERVAL] if intervals else []
    rows = []
    for bucket in buckets:
        first, other = bucket["systems"][0], bucket["systems"][place]
        row = [bucket["bucket"], str(bucket["words"])]
        row += [f"{each['score']:.{digits}f}" for each in (first, other)]
        row.append(signed(other["difference"], digits))
        row += [_p_cell(other[test]) if test in other else NO_FIGURE for test in tests]
        if intervals:
            found = interval_text(other["seeds"], digits) if _has_interval(other) else NO_FIGURE
            row.append(found)
        rows.append(row)
    tested = sum(bucket["tested"] for bucket in buckets)
    count = f"{tested} bucket{'s' * (tested > 1)}"
    adjustment = f"; p after Holm's adjustment over {count}" if tests else ""
    return Table(head, rows, measure_text(table) + adjustment)


def _has_interval(system: Figures) -> bool:
    return "seeds" in system and system["seeds"]["low"] is not None


def _p_cell(found: Figures) -> str:
    return p_text(dict(found)) if found["p_value"] is None else marked_p(adjusted(found))
