"""Counts of binarised dependency trees: arcs, depth, projectivity, over words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from syntax_nmt.data.figures.annotation_figures import AnnotationFigures
from syntax_nmt.data.figures.text_figures import SegmentedBlock, ratio, row_sums
from syntax_nmt.data.figures.word_trees import WordTrees, lift_heads
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import count_text, decimal_text, share_text

OUTSIDE = "with a head outside the sentence"
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
        annotated = rows.bounds[first : first + len(sizes), 1] >= 0
        begin = int(rows.starts[first])
        heads = rows.values[begin : begin + len(text.block.tokens)]
        kept = np.repeat(annotated, sizes)
        inside = (heads >= 0) & (heads < np.repeat(sizes, sizes))
        outside = row_sums(kept & ~inside, sizes) > 0
        self.faults.add(OUTSIDE, _lines(outside, first))
        self.unsure += int((annotated & ~outside & text.unsure).sum())
        usable = annotated & ~outside & ~text.unsure
        if usable.any():
            kept = np.repeat(usable, sizes)
            trees, follows = lift_heads(heads[kept], sizes[usable], text.opens[kept])
            lines = _lines(usable, first)
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


def _lines(rows: np.ndarray, first: int) -> np.ndarray:
    """Line numbers of the rows that are True."""
    return np.flatnonzero(rows) + first + 1
