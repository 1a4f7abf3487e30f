"""fairseq's binarised text, mapped and read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import data_file_path, index_file_path, infer_dataset_impl

from syntax_nmt.data.indexed_file import open_indexed
from syntax_nmt.errors import UserError

_REMEDY = "run fairseq-preprocess again"
_BLOCK = 1 << 18  # tokens read at a time: NumPy's arrays stay in the processor's cache


@dataclass(frozen=True)
class Block:
    """Consecutive sentences.

    Attributes:
        first: position of the first of them in the text, counted from 0.
        tokens: concatenated ids, without EOS.
        sizes: length of each sentence without EOS, int64.
    """

    first: int
    tokens: np.ndarray
    sizes: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each sentence begins in `tokens`, int64."""
        return np.cumsum(self.sizes) - self.sizes


class TokenFile:
    """One language of one split, memory-mapped.

    Attributes:
        prefix: its files without their ending.
        dictionary: its vocabulary.
        sizes: length of each sentence with EOS, (sentences,) int64.
    """

    def __init__(self, prefix: str | Path, dictionary: Dictionary) -> None:
        """Args as the attributes.

        Raises:
            UserError: a file is missing or damaged, or of another format than fairseq's mmap.
        """
        self.prefix = str(prefix)
        self.dictionary = dictionary
        index_path, data_path = index_file_path(self.prefix), data_file_path(self.prefix)
        for path in (index_path, data_path):
            if not Path(path).is_file():
                raise UserError(f"{path}: not found: {_REMEDY}")
        impl = infer_dataset_impl(self.prefix)
        if impl not in (None, "mmap"):
            raise UserError(
                f"{index_path}: fairseq's format {impl!r}, only mmap can be inspected: run "
                f"fairseq-preprocess with --dataset-impl mmap (its default)"
            )
        try:
            self._values, self.sizes = open_indexed(self.prefix, shortest=1)
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

    def blocks(self, limit: int = _BLOCK) -> Iterator[Block]:
        """All sentences in order.

        Args:
            limit: tokens of a block; a longer sentence is a separate block.

        Raises:
            UserError: a sentence does not end in EOS, or the dictionary is too small.
        """
        ends = np.cumsum(self.sizes)
        first = begin = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, begin + limit, side="right")))
            tokens = np.array(self._values[begin : ends[last - 1]])
            closing = ends[first:last] - 1 - begin
            self._check(tokens, closing, first)
            yield Block(first, np.delete(tokens, closing), self.sizes[first:last] - 1)
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
