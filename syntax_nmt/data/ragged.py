"""Integer rows of different lengths, memory-mapped in the format of fairseq's mmap datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder, data_file_path, index_file_path

from syntax_nmt.data.indexed_file import open_indexed


class RaggedArray:
    """One row of int32 per sentence, concatenated; a row that begins with −1 has no annotation.

    fairseq's own dataset class hands out one row per call, as int64; here a whole batch of rows is
    gathered with a few numpy calls. Files are mapped, not read: worker processes share the pages.

    Attributes:
        values: all rows concatenated.
        starts: where each row begins, (number of rows,) int64.
        sizes: the length of each row, (number of rows,) int64.
        bounds: start and length of each row, (number of rows, 2) int64; the length is
            −1 for a row without annotation, an empty one included.
    """

    def __init__(self, values: np.ndarray, sizes: np.ndarray) -> None:
        """Args as the attributes; rows lie in `values` in order and without gaps."""
        sizes = np.asarray(sizes, dtype=np.int64)
        self.values = values
        self._prefix: str | None = None
        self._set_rows(np.cumsum(sizes) - sizes, sizes)

    def _set_rows(self, starts: np.ndarray, sizes: np.ndarray) -> None:
        self.starts, self.sizes = starts, sizes
        annotated = (sizes > 0) & (self.take(starts) >= 0)
        self.bounds = np.stack([starts, np.where(annotated, sizes, -1)], axis=1)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | np.ndarray]) -> RaggedArray:
        """Rows held in memory."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        values = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(values, np.array([len(array) for array in arrays], dtype=np.int64))

    @classmethod
    def open(cls, prefix: str | Path) -> RaggedArray:
        """Maps `prefix.bin` and reads the sizes in `prefix.idx`.

        Args:
            prefix: the two files without their ending.

        Raises:
            ValueError: the files are damaged, or hold another type than int32.
            OSError: a file cannot be read.
        """
        values, sizes = open_indexed(prefix)
        if values.dtype != np.int32:
            raise ValueError(f"{prefix}.idx: {values.dtype.name} instead of int32")
        array = cls(values, sizes)
        array._prefix = str(prefix)
        return array

    @classmethod
    def concatenate(
        cls, arrays: Sequence[RaggedArray], repeats: Sequence[int] | None = None
    ) -> RaggedArray:
        """The rows of several arrays, joined as fairseq joins `train`, `train1`, ….

        Read into memory once: 4 bytes per subword, shared by forked workers. Repetitions cost
        nothing.

        Args:
            repeats: number of repetitions of each part's rows (`--upsample-primary`); once by
                default.
        """
        joined = cls(
            np.concatenate([array.values for array in arrays]),
            np.concatenate([array.sizes for array in arrays]),
        )
        ends = np.cumsum([len(array) for array in arrays])
        rows = np.concatenate(
            [
                np.tile(np.arange(end - len(array), end), repeat)
                for array, end, repeat in zip(arrays, ends, repeats or [1] * len(arrays))
            ]
        )
        joined._set_rows(joined.starts[rows], joined.sizes[rows])
        return joined

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, row: int) -> np.ndarray:
        """One row, (length,) int32."""
        start = self.starts[row]
        return self.values[start : start + self.sizes[row]]

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest number of each row, (number of rows,); 0 of an empty one.

        Rows must be in order in `values`, as those of a file are.
        """
        filled = self.sizes > 0  # reduceat gives an empty row its neighbour's first number
        lowest, highest = np.zeros((2, len(self)), dtype=np.int32)
        if filled.any():
            lowest[filled] = np.minimum.reduceat(self.values, self.starts[filled])
            highest[filled] = np.maximum.reduceat(self.values, self.starts[filled])
        return lowest, highest

    def take(self, position: np.ndarray) -> np.ndarray:
        """The numbers at positions of `values`; positions outside it give any number.

        Args:
            position: int64 of any shape.
        """
        if not len(self.values):  # only sentences without words
            return np.full(position.shape, -1, dtype=np.int32)
        return self.values.take(position, mode="clip")

    def __getstate__(self) -> dict[str, Any]:
        """A mapped array is pickled as its name, because pickling would copy the data."""
        if self._prefix is not None:
            return {"prefix": self._prefix}
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        opened = RaggedArray.open(state["prefix"]).__dict__ if "prefix" in state else state
        self.__dict__.update(opened)


class RaggedWriter:
    """Writes rows one by one; memory does not grow with their number.

    Args:
        prefix: the files to write, without `.bin` and `.idx`.
    """

    def __init__(self, prefix: str | Path) -> None:
        self._prefix = str(prefix)
        # dtype is given: by default fairseq chooses an unsigned type, and −1 becomes 65535.
        self._builder = MMapIndexedDatasetBuilder(data_file_path(self._prefix), dtype=np.int32)

    def add(self, row: np.ndarray) -> None:
        """Appends a row.

        Args:
            row: (length,) int32.
        """
        self._builder.add_item(torch.from_numpy(row))

    def close(self) -> None:
        """Writes the index, without which the files cannot be read."""
        self._builder.finalize(index_file_path(self._prefix))
