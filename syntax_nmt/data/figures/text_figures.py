"""Counts of a binarised text: sentences, subwords, words, unknown subwords."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from syntax_nmt.data.figures.token_file import Block
from syntax_nmt.data.figures.word_openers import WordOpeners
from syntax_nmt.data.subwords import NO_SUBWORDS


@dataclass(frozen=True)
class SegmentedBlock:
    """Consecutive sentences and their words.

    Attributes:
        block: the sentences.
        opens: True where a token begins a word, (tokens,).
        unknown: unknown subwords of each sentence, int64.
        unsure: True where they hide where words end, (sentences,).
    """

    block: Block
    opens: np.ndarray
    unknown: np.ndarray
    unsure: np.ndarray

    @classmethod
    def of(cls, block: Block, openers: WordOpeners, unknown_id: int) -> SegmentedBlock:
        """Finds the words of some sentences."""
        unknown = row_sums(block.tokens == unknown_id, block.sizes)
        unsure = (unknown > 0) & (openers.scheme != NO_SUBWORDS)
        return cls(block, openers(block), unknown, unsure)


@dataclass
class TextFigures:
    """The statistics, updated block by block.

    Attributes:
        sentences: lines, empty ones included.
        subwords: tokens without EOS.
        words: as far as unknown subwords allow.
        unknown: unknown subwords.
        with_unknown: sentences with unknown subwords.
        unsure: those of them whose words are not known.
        empty: sentences without subwords.
        longest: subwords of the longest sentence.
        longest_line: its line, counted from 1; the first of equals, 0 = there is none.
    """

    sentences: int = 0
    subwords: int = 0
    words: int = 0
    unknown: int = 0
    with_unknown: int = 0
    unsure: int = 0
    empty: int = 0
    longest: int = 0
    longest_line: int = 0

    def add(self, text: SegmentedBlock) -> None:
        """Counts some sentences."""
        sizes = text.block.sizes
        self.sentences += len(sizes)
        self.subwords += len(text.block.tokens)
        self.words += int(text.opens.sum())
        self.unknown += int(text.unknown.sum())
        self.with_unknown += int((text.unknown > 0).sum())
        self.unsure += int(text.unsure.sum())
        self.empty += int((sizes == 0).sum())
        row = int(sizes.argmax())
        if sizes[row] > self.longest:
            self.longest, self.longest_line = int(sizes[row]), text.block.first + row + 1

    def figures(self) -> dict[str, Any]:
        """All figures by name; None if the divisor is 0."""
        return {
            "sentences": self.sentences,
            "empty_sentences": self.empty,
            "subwords": self.subwords,
            "words": self.words,
            "subwords_per_word": ratio(self.subwords, self.words),
            "longest_subwords": self.longest,
            "longest_line": self.longest_line or None,
            "unknown_subwords": self.unknown,
            "unknown_share": ratio(self.unknown, self.subwords),
            "sentences_with_unknown": self.with_unknown,
        }


def row_sums(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of each of several concatenated rows, also empty ones; int64.

    Args:
        sizes: the length of each.
    """
    edges = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    ends = np.cumsum(sizes)
    return edges[ends] - edges[ends - sizes]


def ratio(part: float, whole: float) -> float | None:
    """A quotient; None if the divisor is 0."""
    return part / whole if whole else None
