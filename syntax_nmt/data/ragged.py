"""Integer rows of different lengths in fairseq's mmap format, `.idx` and `.bin`.

fairseq's own reader trusts the index: if it is damaged, the reader fails at an assertion, or reads
numbers of other sentences. This one opens only files that are whole and agree.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from syntax_nmt.data.text_files import check_regular

MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")  # magic, version, number type, rows
_VERSION = 1
_BLOCK = 1 << 18  # rows that are looked at together
_SIZE, _POSITION = np.dtype(np.int32), np.dtype(np.int64)
# fairseq's codes of number types; our rows contain no floats.
_NUMBER_TYPES = {
    1: np.uint8,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    8: np.uint16,
    9: np.uint32,
    10: np.uint64,
}


class IndexedFile(NamedTuple):
    """Rows of whole numbers.

    Attributes:
        values: all rows concatenated, memory-mapped, in their stored type.
        sizes: length of each row, (rows,) int64.
    """

    values: np.ndarray
    sizes: np.ndarray


def open_indexed(prefix: str | Path, shortest: int = 0) -> IndexedFile:
    """Maps `prefix.bin` and reads `prefix.idx`.

    Sizes are compared first, because an index may claim more rows than there are.

    Args:
        prefix: the two files without their ending.
        shortest: numbers that each row has at least; 1 for sentences, which have their EOS.

    Raises:
        ValueError: the file is not an index of fairseq's mmap format, or does not agree with
            itself or with `prefix.bin`; names the file and both values.
        OSError: a file cannot be read.
    """
    path = f"{prefix}.idx"
    number_type, rows = _header(path)
    index = _mapped(path, np.dtype(np.uint8))
    stored = np.frombuffer(index, _SIZE, rows, _HEADER.size)
    positions = np.frombuffer(index, _POSITION, rows, _HEADER.size + stored.nbytes)
    values = _mapped(f"{prefix}.bin", number_type)
    if len(values) < rows * shortest:
        raise ValueError(
            f"{prefix}.bin: damaged ({len(values)} numbers where the index has {rows} rows)"
        )
    sizes = stored.astype(np.int64)
    _check_positions(path, sizes, positions, values.itemsize)
    if len(values) != sizes.sum():
        raise ValueError(
            f"{prefix}.bin: damaged ({len(values)} numbers where the index has {sizes.sum()})"
        )
    return IndexedFile(values, sizes)


def count_rows(prefix: str | Path) -> int:
    """The number of rows according to `prefix.idx` and its size.

    Args:
        prefix: the file without its ending.

    Raises:
        ValueError: the file is not an index of fairseq's mmap format.
        OSError: the file cannot be read.
    """
    return _header(f"{prefix}.idx")[1]


def _header(path: str) -> tuple[np.dtype, int]:
    """Type and number of the rows."""
    check_regular(path)
    with open(path, "rb") as stream:
        header = stream.read(_HEADER.size)
    if not header.startswith(MAGIC) or len(header) < _HEADER.size:
        raise ValueError(f"{path}: damaged (no index of fairseq's mmap format)")
    _, version, number_type, rows = _HEADER.unpack(header)
    if version != _VERSION or number_type not in _NUMBER_TYPES:
        raise ValueError(f"{path}: damaged (version {version}, number type {number_type})")
    found = Path(path).stat().st_size
    expected = _HEADER.size + rows * (_SIZE.itemsize + _POSITION.itemsize)
    if found != expected:
        raise ValueError(f"{path}: damaged ({found} bytes, {expected} expected)")
    return np.dtype(_NUMBER_TYPES[number_type]), rows


def _check_positions(path: str, sizes: np.ndarray, positions: np.ndarray, width: int) -> None:
    """Rows are contiguous: each begins where the previous one ends."""
    wrong = (sizes < 0) | (positions != (np.cumsum(sizes) - sizes) * width)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{path}: damaged (row {row + 1} has {sizes[row]} numbers and begins at byte "
            f"{positions[row]})"
        )


def _mapped(path: str, dtype: np.dtype) -> np.ndarray:
    size = Path(path).stat().st_size
    if size % dtype.itemsize:
        raise ValueError(f"{path}: damaged ({size} bytes, no multiple of {dtype.itemsize})")
    if not size:  # an empty file cannot be mapped
        return np.zeros(0, dtype=dtype)
    with open(path, "rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype=dtype)


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
    """Writes rows; memory grows by 4 bytes a row. Without its end the files cannot be read.

    Args:
        prefix: the files to write, without `.bin` and `.idx`.
    """

    def __init__(self, prefix: str | Path, dtype: np.dtype = _SIZE) -> None:
        self._index, self._dtype = f"{prefix}.idx", dtype
        self._stream = open(f"{prefix}.bin", "wb")  # noqa: SIM115
        self._sizes: list[np.ndarray] = []

    def write(self, values: np.ndarray, sizes: Sequence[int] | np.ndarray) -> None:
        """Appends rows.

        Args:
            values: their numbers, one row after another.
        """
        self._stream.write(np.ascontiguousarray(values, dtype=self._dtype).data)
        self._sizes.append(np.asarray(sizes, dtype=_SIZE))

    def __enter__(self) -> RaggedWriter:
        return self

    def __exit__(self, kind: type | None, error: object, trace: object) -> None:
        """Writes the index, if all went well."""
        self._stream.close()
        if kind is not None:
            return
        code = {np.dtype(each): code for code, each in _NUMBER_TYPES.items()}[self._dtype]
        sizes = np.concatenate([*self._sizes, np.zeros(0, dtype=_SIZE)])
        with open(self._index, "wb") as stream:
            stream.write(_HEADER.pack(MAGIC, _VERSION, code, len(sizes)))
            stream.write(sizes.data)
            begin = 0
            for start in range(0, len(sizes), _BLOCK):
                block = sizes[start : start + _BLOCK].astype(_POSITION)
                ends = begin + np.cumsum(block)
                stream.write(((ends - block) * self._dtype.itemsize).data)
                begin = int(ends[-1])
