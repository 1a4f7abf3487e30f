"""Statistics of annotation files: what all kinds have, phrases and chunks, and dependency trees."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from syntax_nmt.data.chunks import OUTSIDE
from syntax_nmt.data.figures.text_figures import SegmentedBlock, ratio, row_sums
from syntax_nmt.data.figures.word_trees import WordTrees, lift_heads
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import count_text, decimal_text, share_text

# The head of a column, the name of its figure, and its format.
Column = tuple[str, str, Callable[[Any], str]]


@dataclass
class Faults:
    """Faulty sentences: their number, and the line of the first."""

    found: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, what: str, lines: np.ndarray) -> None:
        """Counts some.

        Args:
            lines: their line numbers, in order; may be empty.
        """
        if len(lines):
            count, first = self.found.get(what, (0, int(lines[0])))
            self.found[what] = count + len(lines), first

    def messages(self) -> list[str]:
        """One for each kind of fault."""
        return [
            f"{count} sentence{'s' * (count > 1)} {what} (line {first}{' first' * (count > 1)})"
            for what, (count, first) in self.found.items()
        ]


@dataclass
class AnnotationFigures:
    """Counts of sentences, block by block.

    Attributes:
        sentences: all, and those `annotated`.
        unsure: annotated sentences excluded from the figures, because unknown subwords hide where
            their words end.
        faults: faulty sentences.
    """

    columns: ClassVar[tuple[Column, ...]] = (
        ("annotated", "annotated", count_text),
        ("share", "annotated_share", share_text),
    )

    sentences: int = 0
    annotated: int = 0
    unsure: int = 0
    faults: Faults = field(default_factory=Faults)

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts some sentences.

        Args:
            rows: the annotation file, all of it.
        """
        first, sentences = text.block.first, len(text.block.sizes)
        self.sentences += sentences
        self.annotated += int(rows.block(first, sentences).annotated.sum())

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            "annotated": self.annotated,
            "annotated_share": ratio(self.annotated, self.sentences),
        }


NOT_OPENED = "that no chunk opens"


@dataclass
class PhraseFigures(AnnotationFigures):
    """The statistics, updated block by block.

    Attributes:
        phrases: of the annotated sentences; EOS, a separate phrase, is not counted.
        pieces: in them.
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
    pieces: int = 0
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
        self.phrases += len(lengths)
        self.pieces += int(lengths.sum())
        if len(lengths) and lengths.max() > self.longest:
            place = int(lengths.argmax())
            self.longest, self.longest_line = int(lengths[place]), first + int(owners[place]) + 1

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            **super().figures(),
            "phrases": self.phrases,
            "phrases_per_sentence": ratio(self.phrases, self.annotated),
            "mean_subwords": ratio(self.pieces, self.phrases),
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
        not_opened = owners[starts[ids[starts] == 0]]
        self.faults.add(NOT_OPENED, not_opened + first + 1)
        kept = ~np.isin(owners, not_opened)
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
    block = rows.block(first, number)
    annotated = block.annotated
    owners = np.repeat(np.arange(number), block.sizes)
    kept = annotated[owners]
    return block.values[kept].astype(np.int32), owners[kept], annotated


NO_TREE = "whose heads are no tree with one root"
OTHER_WORDS = "whose heads do not follow the words of the text"


@dataclass
class TreeFigures(AnnotationFigures):
    """The statistics, updated block by block.

    Attributes:
        measured: trees over words; what follows is about these.
        words: their words, one root a tree.
        arc_length: sum over arcs of the distance in words between a word and its head.
        projective: trees in which no arc crosses another or spans the root.
        depth: sum over trees of the most arcs between a word and the root.
        deepest: the largest depth, on line `deepest_line` (counted from 1).
    """

    columns = (
        *AnnotationFigures.columns,
        ("arc length", "mean_arc_length", decimal_text),
        ("projective", "projective_share", share_text),
        ("depth", "mean_depth", decimal_text),
        ("deepest", "deepest", count_text),
        ("on line", "deepest_line", count_text),
    )

    measured: int = 0
    words: int = 0
    arc_length: int = 0
    projective: int = 0
    depth: int = 0
    deepest: int = 0
    deepest_line: int = 0

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts the trees of some sentences.

        Args:
            rows: heads of the whole text, each row as long as its sentence.
        """
        super().add(text, rows)
        sizes, first = text.block.sizes, text.block.first
        block = rows.block(first, len(sizes))
        annotated, heads = block.annotated, block.values.astype(np.int32)
        self.unsure += int((annotated & text.unsure).sum())
        usable = annotated & ~text.unsure
        if usable.any():
            kept = np.repeat(usable, sizes)
            trees, follows = lift_heads(heads[kept], sizes[usable], text.opens[kept])
            lines = np.flatnonzero(usable) + first + 1
            self.faults.add(OTHER_WORDS, lines[~follows])
            self._add_trees(trees.select(follows), lines[follows])

    def _add_trees(self, candidates: WordTrees, lines: np.ndarray) -> None:
        depths, are_trees = candidates.depths()
        self.faults.add(NO_TREE, lines[~are_trees])
        trees, lines = candidates.select(are_trees), lines[are_trees]
        if not len(lines):
            return
        depths = depths[np.repeat(are_trees, candidates.sizes)]
        heights = np.maximum.reduceat(depths, trees.starts)
        self.measured += len(lines)
        self.words += len(depths)
        self.arc_length += int(np.abs(trees.parents - np.arange(len(depths))).sum())
        self.projective += int(trees.projective(depths).sum())
        self.depth += int(heights.sum())
        row = int(heights.argmax())
        if not self.deepest_line or heights[row] > self.deepest:
            self.deepest, self.deepest_line = int(heights[row]), int(lines[row])

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            **super().figures(),
            "trees_measured": self.measured,
            "sentences_with_unsure_words": self.unsure,
            "words": self.words,
            "mean_arc_length": ratio(self.arc_length, self.words - self.measured),
            "projective": self.projective,
            "projective_share": ratio(self.projective, self.measured),
            "mean_depth": ratio(self.depth, self.measured),
            "deepest": self.deepest,
            "deepest_line": self.deepest_line or None,
        }
