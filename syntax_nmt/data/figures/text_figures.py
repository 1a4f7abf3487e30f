"""fairseq's binarised text, block by block: where words begin, and counts of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from syntax_nmt.data.ragged import RowBlock, open_indexed
from syntax_nmt.data.subwords import NO_SUBWORDS, SENTENCEPIECE, SUBWORD_NMT, piece_marks
from syntax_nmt.errors import UserError

if TYPE_CHECKING:  # commands start without torch and fairseq
    from fairseq.data import Dictionary

_REMEDY = "run fairseq-preprocess again"
_BLOCK = 1 << 18  # tokens read at a time: NumPy's arrays stay in the processor's cache


class TokenFile:
    """One language of one split, memory-mapped.

    Attributes:
        prefix: its files without their ending.
        dictionary: its vocabulary.
        sizes: length of each sentence with EOS, (sentences,).
    """

    def __init__(self, prefix: str | Path, dictionary: Dictionary) -> None:
        """Args as the attributes.

        Raises:
            UserError: a file is missing or damaged, or of another format than fairseq's mmap.
        """
        self.prefix = str(prefix)
        self.dictionary = dictionary
        index_path, data_path = f"{self.prefix}.idx", f"{self.prefix}.bin"
        for path in (index_path, data_path):
            if not Path(path).is_file():
                raise UserError(f"{path}: not found: {_REMEDY}")
        try:
            self._values, self.sizes, _ = open_indexed(self.prefix, shortest=1)
        except (OSError, ValueError) as error:
            raise UserError(f"{error}: {_REMEDY}") from error

    def __len__(self) -> int:
        return len(self.sizes)

    def tokens(self, row: int) -> np.ndarray:
        """The ids of one sentence with EOS.

        Args:
            row: its position, counted from 0.
        """
        start = int(self.sizes[:row].sum())
        return np.array(self._values[start : start + self.sizes[row]], dtype=np.int64)

    def blocks(self) -> Iterator[RowBlock]:
        """All sentences without EOS, in order; one longer than a block is a separate block.

        Raises:
            UserError: a sentence does not end in EOS, or the dictionary is too small.
        """
        ends = np.cumsum(self.sizes)
        first = begin = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, begin + _BLOCK, side="right")))
            tokens = np.array(self._values[begin : ends[last - 1]])
            closing = ends[first:last] - 1 - begin
            self._check(tokens, closing, first)
            yield RowBlock(
                first, np.delete(tokens, closing), self.sizes[first:last].astype(np.int64) - 1
            )
            first, begin = last, int(ends[last - 1])

    def _check(self, tokens: np.ndarray, closing: np.ndarray, first: int) -> None:
        """Refuses a text of another dictionary, before any look-up."""
        unclosed = np.diff(closing, prepend=-1) < 1  # not even EOS
        unclosed |= tokens[closing] != self.dictionary.eos() if len(tokens) else True
        if unclosed.any():
            line = first + int(np.flatnonzero(unclosed)[0]) + 1
            raise UserError(
                f"{self.prefix}.bin: sentence {line} does not end in the end-of-sentence token: "
                f"{_REMEDY}"
            )
        if tokens.max() >= len(self.dictionary) or tokens.min() < 0:
            raise UserError(
                f"{self.prefix}.bin: token {tokens.max()}, the dictionary has "
                f"{len(self.dictionary)} entries: the dictionary is another text's; {_REMEDY}"
            )


class WordOpeners:
    """The rules of :func:`~syntax_nmt.data.subwords.pieces_per_word` on token ids.

    The rules use a table with the properties of each dictionary entry.

    Args:
        pieces: the dictionary's entries in the order of their ids.
        scheme: one of `subwords.SCHEMES`.
    """

    def __init__(self, pieces: Sequence[str], scheme: str) -> None:
        self.scheme = scheme
        self._marks = piece_marks(pieces)

    def reach_over(self, block: RowBlock) -> bool:
        """Whether a sentencepiece piece crosses a word's end, so that words are not known.

        Args:
            block: some sentences.
        """
        return self.scheme == SENTENCEPIECE and bool(self._marks.over[block.values].any())

    def __call__(self, block: RowBlock) -> np.ndarray:
        """True where a token begins a word, (tokens,).

        Args:
            block: some sentences.
        """
        if self.scheme == SENTENCEPIECE:
            filled = self._marks.filled[block.values]
            # A lone ▁ begins a word that the next piece continues, marked or not.
            opens = self._marks.marked[block.values] & np.roll(filled, 1)
        elif self.scheme == SUBWORD_NMT:
            opens = ~np.roll(self._marks.continued[block.values], 1)
        else:
            return np.ones(len(block.values), dtype=bool)
        opens[block.starts[block.sizes > 0]] = True
        if self.scheme == SENTENCEPIECE:
            _close_lone_openers(opens, filled, block)
        return opens


def _close_lone_openers(opens: np.ndarray, filled: np.ndarray, block: RowBlock) -> None:
    """A lone ▁ at the end of a sentence begins no word: it belongs to the previous word."""
    starts = block.starts[block.sizes > 0]
    ends = starts + block.sizes[block.sizes > 0]
    lone = ~filled[ends - 1]
    if lone.any():
        openers = np.flatnonzero(opens)
        last = openers[np.searchsorted(openers, ends[lone]) - 1]
        opens[last[last > starts[lone]]] = False


@dataclass(frozen=True)
class SegmentedBlock:
    """Consecutive sentences and their words.

    Attributes:
        block: the sentences.
        opens: True where a token begins a word, (tokens,).
        unknown: unknown subwords of each sentence, int64.
        unsure: True where they hide where words end, (sentences,).
    """

    block: RowBlock
    opens: np.ndarray
    unknown: np.ndarray
    unsure: np.ndarray

    @classmethod
    def of(cls, block: RowBlock, openers: WordOpeners, unknown_id: int) -> SegmentedBlock:
        """Finds the words of some sentences."""
        unknown = row_sums(block.values == unknown_id, block.sizes)
        unsure = (unknown > 0) & (openers.scheme != NO_SUBWORDS)
        return cls(block, openers(block), unknown, unsure)


@dataclass
class TextFigures:
    """The statistics, updated block by block.

    Attributes:
        reported: the figures that JSON has, in this order.
        sentences: lines, empty ones included.
        empty_sentences: those without subwords.
        subwords: tokens without EOS.
        words: as far as unknown subwords allow.
        longest_subwords: of the longest sentence.
        longest_line: its line, counted from 1; the first of equals, None = there is none.
        sentences_with_unknown: that have unknown subwords.
        unsure: those of them whose words are not known.
    """

    reported: ClassVar[tuple[str, ...]] = (
        *("sentences", "empty_sentences", "subwords", "words", "subwords_per_word"),
        *("longest_subwords", "longest_line"),
        *("unknown_subwords", "unknown_share", "sentences_with_unknown"),
    )

    sentences: int = 0
    empty_sentences: int = 0
    subwords: int = 0
    words: int = 0
    longest_subwords: int = 0
    longest_line: int | None = None
    unknown_subwords: int = 0
    sentences_with_unknown: int = 0
    unsure: int = 0

    @property
    def subwords_per_word(self) -> float | None:
        """None without words."""
        return ratio(self.subwords, self.words)

    @property
    def unknown_share(self) -> float | None:
        """The share of subwords that are unknown; None without any subword."""
        return ratio(self.unknown_subwords, self.subwords)

    def add(self, text: SegmentedBlock) -> None:
        """Counts some sentences."""
        sizes = text.block.sizes
        self.sentences += len(sizes)
        self.subwords += len(text.block.values)
        self.words += int(text.opens.sum())
        self.unknown_subwords += int(text.unknown.sum())
        self.sentences_with_unknown += int((text.unknown > 0).sum())
        self.unsure += int(text.unsure.sum())
        self.empty_sentences += int((sizes == 0).sum())
        row = int(sizes.argmax())
        if sizes[row] > self.longest_subwords:
            self.longest_subwords, self.longest_line = int(sizes[row]), text.block.first + row + 1


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
