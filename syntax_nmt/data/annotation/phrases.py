"""Phrases of the source from its constituency trees (Xu et al., 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.data.annotation.formats import BRACKETED
from syntax_nmt.data.annotation.kind import AnnotationKind, BatchedText, SegmentedSentence
from syntax_nmt.data.collation import collate_phrases
from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.data.figures.annotation_figures import PhraseFigures
from syntax_nmt.data.phrases import parsed_lengths
from syntax_nmt.data.ragged import RaggedArray, RowBlock
from syntax_nmt.data.text_columns import labelled
from syntax_nmt.text.languages import SOURCE

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor


class Phrases(AnnotationKind):
    """Lengths of the phrases in subwords, from left to right; from bracketed trees."""

    name = "phrases"
    format = BRACKETED
    side = SOURCE
    parsed_by = "constituents"
    keys = ("phrase_lengths",)
    description = "phrases of the source's constituency trees"
    option = "load_phrases"
    making = "--constituents"
    help = "load the phrases of the source, from its constituents"
    title = "phrases, in subwords"

    def row(
        self, annotation: ConstituentTree, counts: Sequence[int], label_ids: Mapping[str, int]
    ) -> np.ndarray:
        """See :func:`~syntax_nmt.data.phrases.parsed_lengths`."""
        return np.asarray(parsed_lengths(annotation, counts), dtype=np.int32)

    def no_row(self, size: int) -> np.ndarray:
        """One −1 for any length."""
        return super().no_row(1)

    def covered(self, rows: RowBlock, sizes: np.ndarray) -> np.ndarray:
        """The sum of each row; a sentence without parse fits any length."""
        sums = np.zeros(len(sizes), dtype=np.int64)
        filled = rows.sizes > 0  # reduceat gives an empty row its neighbour's first number
        if filled.any():
            sums[filled] = np.add.reduceat(rows.values, rows.starts[filled], dtype=np.int64)
        return np.where(sums < 0, sizes, sums)

    def limits(self, sizes: np.ndarray, labels: int) -> tuple[int, np.ndarray]:
        """A length within the sentence."""
        return 1, sizes

    def collate(self, rows: RaggedArray, text: BatchedText, labels: int) -> Tensor:
        """B×P: lengths with EOS, 0 = no phrase; n-grams for a sentence without parse."""
        return collate_phrases(rows, text.ids, text.sizes.take(text.ids))

    def figures(self, labels: Sequence[str] = ()) -> PhraseFigures:
        """Their number and length."""
        return PhraseFigures()

    def show(
        self, row: np.ndarray, sentence: SegmentedSentence, labels: Sequence[str]
    ) -> list[str]:
        """`[the old man] [saw] [the sea]`."""
        ends = np.cumsum(row)
        spans = zip((ends - row).tolist(), ends.tolist())
        return labelled(self.name, [f"[{sentence.joined(*span)}]" for span in spans])


PHRASES = Phrases()
