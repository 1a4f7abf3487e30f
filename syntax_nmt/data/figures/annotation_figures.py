"""Statistics of annotation files: what all kinds have, phrases and chunks, and dependency trees."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from syntax_nmt.data.chunks import OUTSIDE
from syntax_nmt.data.figures.text_figures import SegmentedBlock, ratio, row_sums
from syntax_nmt.data.figures.word_trees import WordTrees, lift_heads
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import count_text, counted, decimal_text, share_text

# The head of a column, the figure that it has, and its format.
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
            f"{counted(count, 'sentence')} {what} (line {first}{' first' * (count > 1)})"
            for what, (count, first) in self.found.items()
        ]


@dataclass
class AnnotationFigures:
    """Counts of sentences, block by block.

    Attributes:
        reported: the figures that JSON has, in this order.
        columns: those of the table for readers.
        sentences: all, and those `annotated`.
        sentences_with_unsure_words: annotated ones that are excluded from the figures, because
            unknown subwords hide where their words end.
        faults: faulty sentences.
    """

    reported: ClassVar[tuple[str, ...]] = ("annotated", "annotated_share")
    columns: ClassVar[tuple[Column, ...]] = (
        ("annotated", "annotated", count_text),
        ("share", "annotated_share", share_text),
    )

    sentences: int = 0
    annotated: int = 0
    sentences_with_unsure_words: int = 0
    faults: Faults = field(default_factory=Faults)

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts some sentences.

        Args:
            rows: the annotation file, all of it.
        """
        first, sentences = text.block.first, len(text.block.sizes)
        self.sentences += sentences
        self.annotated += int(rows.block(first, sentences).annotated.sum())

    @property
    def annotated_share(self) -> float | None:
        """The share of sentences that are annotated; None without any sentence."""
        return ratio(self.annotated, self.sentences)

    @property
    def tags(self) -> dict[str, int]:
        """How often each label occurs; empty for annotation whose labels are not counted."""
        return {}


NOT_OPENED = "that no chunk opens"


@dataclass
class PhraseFigures(AnnotationFigures):
    """The statistics, updated block by block.

    Attributes:
        phrases: of the annotated sentences; EOS, a separate phrase, is not counted.
        pieces: in them.
        longest_subwords: of the longest phrase, on line `longest_line` (counted from 1).
    """

    reported = (
        *AnnotationFigures.reported,
        *("phrases", "phrases_per_sentence", "mean_subwords", "longest_subwords", "longest_line"),
    )
    columns = (
        *AnnotationFigures.columns,
        ("phrases/sentence", "phrases_per_sentence", decimal_text),
        ("length", "mean_subwords", decimal_text),
        ("longest", "longest_subwords", count_text),
        ("on line", "longest_line", count_text),
    )

    phrases: int = 0
    pieces: int = 0
    longest_subwords: int = 0
    longest_line: int | None = None

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
        if len(lengths) and lengths.max() > self.longest_subwords:
            place = int(lengths.argmax())
            self.longest_subwords = int(lengths[place])
            self.longest_line = first + int(owners[place]) + 1

    @property
    def phrases_per_sentence(self) -> float | None:
        """None without annotation."""
        return ratio(self.phrases, self.annotated)

    @property
    def mean_subwords(self) -> float | None:
        """The mean length of phrases; None without any."""
        return ratio(self.pieces, self.phrases)


@dataclass
class ChunkFigures(AnnotationFigures):
    """The statistics, updated block by block; sentences that cannot be right are not.

    Attributes:
        labels: chunk types in id order.
        counts: chunks of each type, (types,) int64.
        words: in chunks of each type, (types,) int64.
    """

    reported = (
        *AnnotationFigures.reported,
        *("chunks", "chunks_per_sentence", "mean_words", "words_outside_share", "tags"),
    )
    columns = (
        *AnnotationFigures.columns,
        ("chunks/sentence", "chunks_per_sentence", decimal_text),
        ("length", "mean_words", decimal_text),
        ("outside", "words_outside_share", share_text),
    )

    labels: tuple[str, ...] = ()
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    words: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        """Begins at 0."""
        self.counts = np.zeros(len(self.labels), dtype=np.int64)
        self.words = np.zeros(len(self.labels), dtype=np.int64)

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
        self.counts += np.bincount(tags, minlength=len(self.labels))
        self.words += np.bincount(tags, words, len(self.labels)).astype(np.int64)

    @property
    def chunks(self) -> int:
        """All; words outside of chunks (`O`) are none."""
        return sum(self.tags.values())

    @property
    def chunks_per_sentence(self) -> float | None:
        """None without annotation."""
        return ratio(self.chunks, self.annotated)

    @property
    def mean_words(self) -> float | None:
        """The mean length of chunks; None without any."""
        return ratio(int(self.words.sum()) - self._words_outside, self.chunks)

    @property
    def words_outside_share(self) -> float | None:
        """Words outside of chunks among all; None without any."""
        return ratio(self._words_outside, int(self.words.sum()))

    @property
    def tags(self) -> dict[str, int]:
        """The number of chunks of each type."""
        counts = zip(self.labels, self.counts.tolist())
        return {label: count for label, count in counts if label != OUTSIDE}

    @property
    def _words_outside(self) -> int:
        return sum(n for label, n in zip(self.labels, self.words.tolist()) if label == OUTSIDE)


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
        trees_measured: trees over words; what follows is about these.
        words: their words, one root a tree.
        arc_length: sum over arcs of the distance in words between a word and its head.
        projective: trees in which no arc crosses another or spans the root.
        depth: sum over trees of the most arcs between a word and the root.
        deepest: the largest depth, on line `deepest_line` (counted from 1).
    """

    reported = (
        *AnnotationFigures.reported,
        *("trees_measured", "sentences_with_unsure_words", "words", "mean_arc_length"),
        *("projective", "projective_share", "mean_depth", "deepest", "deepest_line"),
    )
    columns = (
        *AnnotationFigures.columns,
        ("arc length", "mean_arc_length", decimal_text),
        ("projective", "projective_share", share_text),
        ("depth", "mean_depth", decimal_text),
        ("deepest", "deepest", count_text),
        ("on line", "deepest_line", count_text),
    )

    trees_measured: int = 0
    words: int = 0
    arc_length: int = 0
    projective: int = 0
    depth: int = 0
    deepest: int = 0
    deepest_line: int | None = None

    def add(self, text: SegmentedBlock, rows: RaggedArray) -> None:
        """Counts the trees of some sentences.

        Args:
            rows: heads of the whole text, each row as long as its sentence.
        """
        super().add(text, rows)
        sizes, first = text.block.sizes, text.block.first
        block = rows.block(first, len(sizes))
        annotated, heads = block.annotated, block.values.astype(np.int32)
        self.sentences_with_unsure_words += int((annotated & text.unsure).sum())
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
        self.trees_measured += len(lines)
        self.words += len(depths)
        self.arc_length += int(np.abs(trees.parents - np.arange(len(depths))).sum())
        self.projective += int(trees.projective(depths).sum())
        self.depth += int(heights.sum())
        row = int(heights.argmax())
        if self.deepest_line is None or heights[row] > self.deepest:
            self.deepest, self.deepest_line = int(heights[row]), int(lines[row])

    @property
    def mean_arc_length(self) -> float | None:
        """In words, without the root; None without arcs."""
        return ratio(self.arc_length, self.words - self.trees_measured)

    @property
    def projective_share(self) -> float | None:
        """None without trees."""
        return ratio(self.projective, self.trees_measured)

    @property
    def mean_depth(self) -> float | None:
        """None without trees."""
        return ratio(self.depth, self.trees_measured)
