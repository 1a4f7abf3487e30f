"""Counts of binarised phrases and chunks, which divide a sentence into segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from syntax_nmt.data.chunks import OUTSIDE
from syntax_nmt.data.figures.annotation_figures import AnnotationFigures
from syntax_nmt.data.figures.text_figures import SegmentedBlock, ratio, row_sums
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import count_text, decimal_text, share_text

NO_LENGTH = "with a phrase of no subword"
NO_TAG = "with a tag that dict.chunks.txt does not have"
NOT_OPENED = "that no chunk opens"


@dataclass
class PhraseFigures(AnnotationFigures):
    """The statistics, updated block by block.

    Attributes:
        phrases: of the annotated sentences; EOS, a separate phrase, is not counted.
        subwords: in them.
        longest: subwords of the longest phrase, on line `longest_line` (counted from 1).
    """

    columns = (
        *AnnotationFigures.columns,
        ("phrases/sentence", "phrases_per_sentence", decimal_text),
        ("length", "mean_subwords", decimal_text),
        ("longest", "longest_subwords", count_text),
        ("on line", "longest_line", count_text),
    )

    phrases: int = 0
    subwords: int = 0
    longest: int = 0
    longest_line: int = 0

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts the phrases of some sentences.

        Args:
            rows: phrase lengths of the whole text.
        """
        super().add(text, rows)
        first = text.block.first
        lengths, owners, _ = _annotated_rows(rows, first, len(text.block.sizes))
        self.faults.add(NO_LENGTH, np.unique(owners[lengths < 1]) + first + 1)
        self.phrases += len(lengths)
        self.subwords += int(lengths.sum())
        if len(lengths) and lengths.max() > self.longest:
            place = int(lengths.argmax())
            self.longest, self.longest_line = int(lengths[place]), first + int(owners[place]) + 1

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            **super().figures(),
            "phrases": self.phrases,
            "phrases_per_sentence": ratio(self.phrases, self.annotated),
            "mean_subwords": ratio(self.subwords, self.phrases),
            "longest_subwords": self.longest,
            "longest_line": self.longest_line or None,
        }


@dataclass
class ChunkFigures(AnnotationFigures):
    """The statistics, updated block by block; sentences that cannot be right are not.

    Attributes:
        tags: chunk types in id order.
        counts: chunks of each type, (types,) int64.
        words: in chunks of each type, (types,) int64.
    """

    columns = (
        *AnnotationFigures.columns,
        ("chunks/sentence", "chunks_per_sentence", decimal_text),
        ("length", "mean_words", decimal_text),
        ("outside", "words_outside_share", share_text),
    )

    tags: tuple[str, ...] = ()
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    words: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        """Begins at 0."""
        self.counts = np.zeros(len(self.tags), dtype=np.int64)
        self.words = np.zeros(len(self.tags), dtype=np.int64)

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts the chunks of some sentences.

        Args:
            rows: tag ids of the whole text, each row as long as its sentence.
        """
        super().add(text, rows)
        sizes, first = text.block.sizes, text.block.first
        ids, owners, annotated = _annotated_rows(rows, first, len(sizes))
        opens = text.opens[np.repeat(annotated, sizes)]
        starts = np.cumsum(sizes[annotated]) - sizes[annotated]
        sound = np.ones(len(sizes), dtype=bool)
        for what, wrong in (
            (NO_TAG, owners[(ids < 0) | (ids > len(self.tags))]),
            (NOT_OPENED, owners[starts[ids[starts] == 0]]),
        ):
            sound[wrong] = False
            self.faults.add(what, np.unique(wrong) + first + 1)
        kept = sound[owners]
        self._add_chunks(ids[kept], opens[kept])

    def _add_chunks(self, ids: np.ndarray, opens: np.ndarray) -> None:
        """Counts whole sentences, each of which begins with a chunk."""
        places = np.flatnonzero(ids)
        words = row_sums(opens, np.diff(places, append=len(ids)))
        tags = ids[places] - 1
        self.counts += np.bincount(tags, minlength=len(self.tags))
        self.words += np.bincount(tags, words, len(self.tags)).astype(np.int64)

    def figures(self) -> dict[str, Any]:
        """All figures by name. Only words are counted outside of chunks (`O`)."""
        inside = np.array([tag != OUTSIDE for tag in self.tags], dtype=bool)
        chunks = int(self.counts[inside].sum())
        counts = {tag: int(count) for tag, count in zip(self.tags, self.counts) if tag != OUTSIDE}
        return {
            **super().figures(),
            "chunks": chunks,
            "chunks_per_sentence": ratio(chunks, self.annotated),
            "mean_words": ratio(int(self.words[inside].sum()), chunks),
            "words_outside_share": ratio(int(self.words[~inside].sum()), int(self.words.sum())),
            "tags": counts,
        }


def _annotated_rows(
    rows: RaggedArray, first: int, number: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the annotated rows among `number` rows from `first` on.

    Returns:
        the concatenated numbers, the row of each counted from `first`, and (number,) True =
        annotated.
    """
    sizes = rows.sizes[first : first + number]
    annotated = rows.bounds[first : first + number, 1] >= 0
    begin = int(rows.starts[first])
    owners = np.repeat(np.arange(number), sizes)
    kept = annotated[owners]
    return rows.values[begin : begin + len(owners)][kept], owners[kept], annotated
