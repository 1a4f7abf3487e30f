"""Finds the subwords that begin a word, for millions of sentences at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from syntax_nmt.data.figures.token_file import Block
from syntax_nmt.data.subwords import SENTENCEPIECE, SUBWORD_NMT, piece_marks


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

    def reach_over(self, block: Block) -> bool:
        """Whether a sentencepiece piece crosses a word's end, so that words are not known.

        Args:
            block: some sentences.
        """
        return self.scheme == SENTENCEPIECE and bool(self._marks.over[block.tokens].any())

    def __call__(self, block: Block) -> np.ndarray:
        """True where a token begins a word, (tokens,).

        Args:
            block: some sentences.
        """
        if self.scheme == SENTENCEPIECE:
            filled = self._marks.filled[block.tokens]
            # A lone ▁ begins a word that the next piece continues, marked or not.
            opens = self._marks.marked[block.tokens] & np.roll(filled, 1)
        elif self.scheme == SUBWORD_NMT:
            opens = ~np.roll(self._marks.continued[block.tokens], 1)
        else:
            return np.ones(len(block.tokens), dtype=bool)
        opens[block.starts[block.sizes > 0]] = True
        if self.scheme == SENTENCEPIECE:
            _close_lone_openers(opens, filled, block)
        return opens


def _close_lone_openers(opens: np.ndarray, filled: np.ndarray, block: Block) -> None:
    """A lone ▁ at the end of a sentence begins no word: it belongs to the previous word."""
    starts = block.starts[block.sizes > 0]
    ends = starts + block.sizes[block.sizes > 0]
    lone = ~filled[ends - 1]
    if lone.any():
        openers = np.flatnonzero(opens)
        last = openers[np.searchsorted(openers, ends[lone]) - 1]
        opens[last[last > starts[lone]]] = False
