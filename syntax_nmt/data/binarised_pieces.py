"""Checks whether the subwords of a text are those that fairseq binarised."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary

from syntax_nmt.data.indexed_file import IndexedFile
from syntax_nmt.data.text_files import BYTE_ORDER_MARK
from syntax_nmt.errors import UserError


class BinarisedPieces:
    """The tokens of a binarised text, for comparison with their text.

    Args:
        tokens: fairseq's prefix of them.
        text: the segmented text, for messages.
    """

    def __init__(
        self, tokens: Path, indexed: IndexedFile, dictionary: Dictionary, text: Path
    ) -> None:
        self._tokens = tokens
        self._values, self._sizes = indexed
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._dictionary = dictionary
        self._text = text

    def check(self, line: int, pieces: Sequence[str]) -> None:
        """Compares a line, without EOS.

        A line of another length is ignored: another check reports it.

        Args:
            line: its 1-based number.

        Raises:
            UserError: they differ; names both.
        """
        if len(pieces) != self._sizes[line - 1] - 1:
            return
        get, unknown = self._dictionary.indices.get, self._dictionary.unk()
        start = self._starts[line - 1]
        found = self._values[start : start + len(pieces)].tolist()
        given = [get(piece, unknown) for piece in pieces]
        if line == 1 and found != given:  # fairseq keeps it
            given[0] = get(f"{BYTE_ORDER_MARK}{pieces[0]}", unknown)
        if found != given:
            place = next(i for i, pair in enumerate(zip(found, given)) if pair[0] != pair[1])
            raise UserError(
                f"{self._text}:{line}: subword {place + 1} is {pieces[place]!r}, but "
                f"{self._tokens}.bin has {self._symbol(found[place])!r} there: give the very files "
                f"that fairseq-preprocess was given"
            )

    def _symbol(self, token: int) -> str:
        symbols = self._dictionary.symbols
        return symbols[token] if 0 <= token < len(symbols) else f"token {token}"
