"""Joins rows whose labels have ids of their own, by the ids of one list."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.projection import NO_ANNOTATION
from syntax_nmt.data.ragged import IndexedFile, RaggedWriter, narrowest

_ROWS = 1 << 16  # rows of a file that are read at a time
_FEW_KNOWN = 0.1  # smaller shares of values that training has are reported

Block = tuple[np.ndarray, np.ndarray]
"""The sizes of some rows, and all their numbers."""


class Rows(NamedTuple):
    """Rows of one kind.

    Attributes:
        blocks: all of them, in order.
        labels: in the order of the ids that they have, from 1.
        annotated: how many have annotation.
    """

    blocks: Iterator[Block]
    labels: Sequence[str]
    annotated: int


@dataclass
class Joined:
    """What was written.

    Attributes:
        sentences: rows.
        annotated: rows with annotation.
        known: numbers that say anything.
        numbers: in rows with annotation.
        unseen: labels that are in no list, each with the number of sentences that lost their
            annotation by it.
    """

    sentences: int = 0
    annotated: int = 0
    known: int = 0
    numbers: int = 0
    unseen: Counter[str] = field(default_factory=Counter)


def join_rows(
    parts: Iterable[Rows],
    kind: AnnotationKind,
    labels: Sequence[str],
    prefix: Path,
    text: IndexedFile,
) -> Joined:
    """Writes parts one after another to `prefix.{bin,idx}`.

    Args:
        labels: in the order of the ids that are written, from 1.
        text: the tokens that the rows belong to, whose lengths limit the numbers.
    """
    _, greatest = kind.limits(np.asarray(text.sizes).astype(np.int64) - 1, len(labels))
    width = narrowest(int(np.max(greatest, initial=0)))
    joined = Joined()
    ids = {label: number for number, label in enumerate(labels, start=1)}
    with RaggedWriter(prefix, width) as writer:
        for part in parts:
            joined.annotated += part.annotated
            table = _table(part.labels, ids, kind)
            for sizes, values in part.blocks:
                if len(table) > 2:
                    values = _translated(sizes, values, table, part.labels, joined)
                writer.write(values, sizes)
                joined.sentences += len(sizes)
                joined.known += kind.known_values(values, len(labels))
                joined.numbers += int((values != NO_ANNOTATION).sum())
    return joined


def blocks_of(rows: IndexedFile) -> Iterator[Block]:
    """The rows of a file, some at a time."""
    begin = 0
    for first in range(0, len(rows.sizes), _ROWS):
        sizes = rows.sizes[first : first + _ROWS]
        end = begin + int(sizes.sum())
        yield sizes, rows.values[begin:end]
        begin = end


def _table(own: Sequence[str], ids: dict[str, int], kind: AnnotationKind) -> np.ndarray:
    """The id in the joined list of each id of a part: 0 for 0, and at −1 that of no annotation.

    The k-th label of the part becomes −1 − k if the list lacks it: with such an id
    :func:`_translated` drops the annotation of a sentence.
    """
    other = kind.id_of_others(ids) if own else None
    found = [ids.get(label, other or -1 - number) for number, label in enumerate(own, start=1)]
    return np.array([0, *found, NO_ANNOTATION], dtype=np.int32)


def _translated(
    sizes: np.ndarray, values: np.ndarray, table: np.ndarray, own: Sequence[str], joined: Joined
) -> np.ndarray:
    values = table[values]
    lost = np.flatnonzero(values < NO_ANNOTATION)
    if len(lost):
        rows = np.searchsorted(np.cumsum(sizes), lost, side="right")
        pairs = {*zip(rows.tolist(), values[lost].tolist())}
        joined.unseen.update(own[-2 - number] for _, number in pairs)
        of_rows = np.isin(np.repeat(np.arange(len(sizes)), sizes), rows)
        values[of_rows] = NO_ANNOTATION
        joined.annotated -= len(np.unique(rows))
    return values


def report_labels(
    name: str,
    kind: AnnotationKind,
    joined: Joined,
    given: bool,
    file: Path,
    report: Callable[[str], None],
) -> None:
    """Reports labels without an id.

    Args:
        name: of the binarised file.
        given: whether the list of labels is, and not that of the training text.
    """
    if joined.unseen:
        listed = ", ".join(f"{tag} in {count}" for tag, count in sorted(joined.unseen.items()))
        report(
            f"{name}: sentences with {kind.label}s that "
            f"{kind.labels_file if given else 'the training text'} does not have "
            f"count as not annotated ({listed})"
        )
    if joined.known < joined.numbers * _FEW_KNOWN:
        report(
            f"{name}: only {joined.known} of {joined.numbers} subwords have a {kind.label} that "
            f"the training text has, so that models are told little: annotate {file} as the "
            "training text was"
        )
