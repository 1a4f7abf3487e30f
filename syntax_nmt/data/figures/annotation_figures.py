"""Statistics of an annotation file of any kind; each kind adds its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from syntax_nmt.data.figures.text_figures import SegmentedBlock, ratio
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.text_columns import count_text, share_text

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
        self.annotated += int((rows.bounds[first : first + sentences, 1] >= 0).sum())

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            "annotated": self.annotated,
            "annotated_share": ratio(self.annotated, self.sentences),
        }
