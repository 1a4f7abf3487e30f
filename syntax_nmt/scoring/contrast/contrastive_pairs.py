"""Contrastive translation pairs (Sennrich, 2017): a reference, and the same with one error."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntax_nmt.data.text_files import parse_json, read_lines
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.parallel_text import read_parallel


@dataclass(frozen=True)
class ContrastivePair:
    """A sentence with a correct and an incorrect translation.

    Attributes:
        source: the sentence.
        correct: its translation.
        incorrect: the same with one error.
        distance: in words, between the two that must agree; None = not given.
        category: the kind of error; None = not given.
    """

    source: str
    correct: str
    incorrect: str
    distance: int | None = None
    category: str | None = None


def read_parallel_pairs(
    source: str | Path,
    correct: str | Path,
    incorrect: str | Path,
    distance: str | Path | None = None,
) -> list[ContrastivePair]:
    """The pairs of parallel files, such as those of `syntax-nmt demo`.

    Args:
        source: the sentences, one a line; every file may be plain or `.gz`.
        incorrect: the same with an error.
        distance: a whole number a line; an empty line = not known.

    Raises:
        UserError: a file cannot be read, they have different numbers of lines, or a distance is
            not a whole number.
    """
    paths = [source, correct, incorrect, *([] if distance is None else [distance])]
    columns = read_parallel(*paths)
    distances: list[int | None] = [None] * len(columns[0])
    if distance is not None:
        lines = enumerate(columns[3], start=1)
        distances = [_distance(line.strip() or None, f"{distance}:{n}") for n, line in lines]
    rows = zip(columns[0], columns[1], columns[2], distances)
    return [ContrastivePair(*row) for row in rows]


def read_json_pairs(path: str | Path) -> list[ContrastivePair]:
    """The pairs of a file of Lingeval97's form: a list of references with one or more errors each.

    Args:
        path: the file, plain or `.gz`. Each object of its list has `source`, `reference` and
            `errors`, and each of these `contrastive` and, where they are known, `type` and
            `distance`. Other keys (`origin`, `frequency`) are ignored.

    Raises:
        UserError: the file cannot be read, or is of another form.
    """
    form = "a file of Lingeval97's form"
    sentences = parse_json("\n".join(read_lines(path)), path, form)
    if not isinstance(sentences, list):
        raise UserError(f"{path}: is no list of sentences: give {form}")
    return [
        pair
        for number, sentence in enumerate(sentences, start=1)
        for pair in _sentence_pairs(sentence, f"{path}: sentence {number}")
    ]


def _sentence_pairs(sentence: Any, where: str) -> Iterator[ContrastivePair]:
    errors = _value(sentence, "errors", list, where)
    source = _value(sentence, "source", str, where)
    correct = _value(sentence, "reference", str, where)
    for number, error in enumerate(errors, start=1):
        place = f"{where}, error {number}"
        incorrect = _value(error, "contrastive", str, place)
        distance = _distance(error.get("distance"), place)
        category = _value(error, "type", str, place) if "type" in error else None
        yield ContrastivePair(source, correct, incorrect, distance, category)


def _value(container: Any, key: str, kind: type, where: str) -> Any:
    """A key's value, checked."""
    value = container.get(key) if isinstance(container, dict) else None
    if not isinstance(value, kind):
        what = "text" if kind is str else "list"
        raise UserError(f"{where}: has no {what} '{key}': give a file of Lingeval97's form")
    return value


def _distance(value: Any, where: str) -> int | None:
    """A number of words from a line or a JSON value; None if there is none."""
    if value is None:
        return None
    text = str(value)
    if not text.isascii() or not text.isdigit():
        raise UserError(f"{where}: the distance {text!r} is no whole number of words")
    return int(text)
