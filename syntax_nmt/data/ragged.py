"""Integer rows of different lengths in fairseq's mmap format, `.idx` and `.bin`.

fairseq's own reader trusts the index: if it is damaged, the reader fails at an assertion, or reads
numbers of other sentences. This one opens only files that are whole and agree.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from syntax_nmt.data.text_files import check_regular

MAGIC = b"MMIDIDX\x00\x00"
_OLDER_MAGIC = b"TNTIDX\x00\x00"
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


WIDTHS = tuple(map(np.dtype, (np.int8, np.int16, np.int32)))
"""The types that rows of annotation may have; the first that is wide enough is written."""


class IndexedFile(NamedTuple):
    """Rows of whole numbers; all arrays are memory-mapped, so that processes share them.

    Attributes:
        values: all rows concatenated, in their stored type.
        sizes: length of each row, (rows,) int32.
        positions: the byte of `values` at which each row begins, (rows,) int64.
    """

    values: np.ndarray
    sizes: np.ndarray
    positions: np.ndarray

    def starts(self, rows: np.ndarray | int) -> Any:
        """The place of `values` at which rows begin, int64."""
        return self.positions[rows] // self.values.itemsize


def open_indexed(prefix: str | Path, shortest: int = 0) -> IndexedFile:
    """Maps `prefix.bin` and `prefix.idx`.

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
    sizes = np.frombuffer(index, _SIZE, rows, _HEADER.size)
    positions = np.frombuffer(index, _POSITION, rows, _HEADER.size + sizes.nbytes)
    values = _mapped(f"{prefix}.bin", number_type)
    if len(values) < rows * shortest:
        raise ValueError(
            f"{prefix}.bin: damaged ({len(values)} numbers where the index has {rows} rows)"
        )
    total = _check_positions(path, sizes, positions, values.itemsize)
    if len(values) != total:
        raise ValueError(
            f"{prefix}.bin: damaged ({len(values)} numbers where the index has {total})"
        )
    return IndexedFile(values, sizes, positions)


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
    if header.startswith(_OLDER_MAGIC):
        raise ValueError(f"{path}: made with --dataset-impl lazy or cached: leave it out")
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


def _check_positions(path: str, sizes: np.ndarray, positions: np.ndarray, width: int) -> int:
    """Rows are contiguous: each begins where the previous one ends; returns how many numbers they
    have."""
    total = 0
    for first in range(0, len(sizes), _BLOCK):
        block = sizes[first : first + _BLOCK].astype(np.int64)
        begins = total + np.cumsum(block) - block
        wrong = (block < 0) | (positions[first : first + _BLOCK] != begins * width)
        if wrong.any():
            row = first + int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"{path}: damaged (row {row + 1} has {sizes[row]} numbers and begins at byte "
                f"{positions[row]})"
            )
        total += int(block.sum())
    return total


def _mapped(path: str, dtype: np.dtype) -> np.ndarray:
    size = Path(path).stat().st_size
    if size % dtype.itemsize:
        raise ValueError(f"{path}: damaged ({size} bytes, no multiple of {dtype.itemsize})")
    if not size:  # an empty file cannot be mapped
        return np.zeros(0, dtype=dtype)
    with open(path, "rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype=dtype)


class RowBlock(NamedTuple):
    """Consecutive rows of one file.

    Attributes:
        first: position of the first of them, from 0.
        values: their numbers, one row after another.
        sizes: length of each row, (number of rows,) int64.
    """

    first: int
    values: np.ndarray
    sizes: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each row begins in `values`, int64."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def annotated(self) -> np.ndarray:
        """True where a row has annotation: it is not empty and does not begin with −1."""
        annotated = self.sizes > 0
        annotated[annotated] = self.values[self.starts[annotated]] >= 0
        return annotated

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest number of each row, (number of rows,); 0 of an empty one."""
        filled = self.sizes > 0  # reduceat gives an empty row its neighbour's first number
        lowest, highest = np.zeros((2, len(self.sizes)), dtype=np.int64)
        if filled.any():
            lowest[filled] = np.minimum.reduceat(self.values, self.starts[filled])
            highest[filled] = np.maximum.reduceat(self.values, self.starts[filled])
        return lowest, highest


class RaggedArray:
    """One row of whole numbers per sentence; a row that begins with −1 has no annotation.

    fairseq's own dataset class hands out one row per call, as int64; here a whole batch of rows is
    gathered with a few numpy calls. Files are mapped, not read, their indexes as well: worker
    processes share the pages. Files that are joined stay as they are.
    """

    def __init__(self, values: np.ndarray, sizes: np.ndarray) -> None:
        """Rows in memory.

        Args:
            values: all of them, in order and without gaps.
        """
        lengths = np.asarray(sizes, dtype=np.int64)
        positions = (np.cumsum(lengths) - lengths) * values.itemsize
        self._set_files([IndexedFile(values, lengths, positions)], None)

    def _set_files(self, files: Sequence[IndexedFile], prefixes: Sequence[str] | None) -> None:
        self._files, self._prefixes = tuple(files), prefixes
        self._last_rows = np.cumsum([len(file.sizes) for file in files])
        self._last_values = np.cumsum([len(file.values) for file in files])

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | np.ndarray]) -> RaggedArray:
        """Rows held in memory."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        values = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(values, np.array([len(array) for array in arrays], dtype=np.int64))

    @classmethod
    def open(cls, *prefixes: str | Path) -> RaggedArray:
        """Maps files, joined where there are several.

        Args:
            *prefixes: each of `PREFIX.bin` and `PREFIX.idx`.

        Raises:
            ValueError: the files are damaged, or hold numbers of a type without −1 or of 64 bits.
            OSError: a file cannot be read.
        """
        files = [open_indexed(prefix) for prefix in prefixes]
        for prefix, file in zip(prefixes, files):
            if file.values.dtype not in WIDTHS:
                names = ", ".join(width.name for width in WIDTHS)
                raise ValueError(f"{prefix}.idx: {file.values.dtype.name} instead of {names}")
        array = cls.__new__(cls)
        array._set_files(files, [str(prefix) for prefix in prefixes])
        return array

    @classmethod
    def concatenate(
        cls, arrays: Sequence[RaggedArray], repeats: Sequence[int] | None = None
    ) -> RaggedArray:
        """The rows of several arrays, joined as fairseq joins `train`, `train1`, ….

        Nothing is copied, and repetitions cost nothing.

        Args:
            repeats: number of repetitions of each part's rows (`--upsample-primary`); once by
                default.
        """
        parts = [
            array
            for array, times in zip(arrays, repeats or [1] * len(arrays))
            for _ in range(times)
        ]
        joined = cls.__new__(cls)
        prefixes = [prefix for array in parts for prefix in array._prefixes or ()]
        files = [file for array in parts for file in array._files]
        joined._set_files(files, prefixes if len(prefixes) == len(files) else None)
        return joined

    def __len__(self) -> int:
        return int(self._last_rows[-1])

    def __getitem__(self, row: int) -> np.ndarray:
        """One row, (length,) int32."""
        number = int(np.searchsorted(self._last_rows, row, side="right"))
        file = self._files[number]
        row = row - (int(self._last_rows[number - 1]) if number else 0)
        start = int(file.starts(row))
        return file.values[start : start + int(file.sizes[row])].astype(np.int32)

    def blocks(self) -> Iterator[RowBlock]:
        """All rows in order, many at a time."""
        first = 0
        for file in self._files:
            for begin in range(0, len(file.sizes), _BLOCK):
                number = min(_BLOCK, len(file.sizes) - begin)
                yield self._block(file, begin, number)._replace(first=first + begin)
            first += len(file.sizes)

    def block(self, first: int, number: int) -> RowBlock:
        """Some consecutive rows of one file."""
        return self._block(self._files[0], first, number)

    @staticmethod
    def _block(file: IndexedFile, first: int, number: int) -> RowBlock:
        sizes = file.sizes[first : first + number].astype(np.int64)
        start = int(file.starts(first)) if number else 0
        return RowBlock(first, file.values[start : start + int(sizes.sum())], sizes)

    def bounds(self, rows: np.ndarray) -> np.ndarray:
        """Start and length of rows, (number of rows, 2) int64.

        A start is a place for :meth:`take`. The length is −1 for a row without annotation, an empty
        one included.

        Args:
            rows: positions, from 0.
        """
        if len(self._files) == 1:
            starts, sizes = self._files[0].starts(rows), self._files[0].sizes[rows]
        else:
            starts, sizes = np.empty((2, len(rows)), dtype=np.int64)
            for number, here in self._by_file(self._last_rows, rows):
                file = self._files[number]
                of_file = rows[here] - (self._last_rows[number - 1] if number else 0)
                starts[here] = file.starts(of_file)
                starts[here] += self._last_values[number - 1] if number else 0
                sizes[here] = file.sizes[of_file]
        annotated = (sizes > 0) & (self.take(starts) >= 0)
        return np.stack([starts, np.where(annotated, sizes, -1)], axis=1)

    def take(self, position: np.ndarray) -> np.ndarray:
        """The numbers at places of all rows one after another, int32; places outside give any
        number.

        Args:
            position: int64 of any shape.
        """
        if not self._last_values[-1]:  # only sentences without words
            return np.full(position.shape, -1, dtype=np.int32)
        if len(self._files) == 1:
            return self._files[0].values.take(position, mode="clip").astype(np.int32, copy=False)
        found = np.zeros(position.shape, dtype=np.int32)
        for number, here in self._by_file(self._last_values, position):
            begin = self._last_values[number - 1] if number else 0
            found[here] = self._files[number].values.take(position[here] - begin, mode="clip")
        return found

    @staticmethod
    def _by_file(last: np.ndarray, places: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The files that some places are in, and True where a place is in it.

        No place is in an empty file. Places outside are in the first or last of the others.
        """
        first, end = np.searchsorted(last, 0, side="right"), np.searchsorted(last, last[-1])
        numbers = np.searchsorted(last, places, side="right").clip(first, end)
        for number in np.unique(numbers).tolist():
            yield number, numbers == number

    def __getstate__(self) -> dict[str, Any]:
        """Mapped files are pickled as their names, because pickling would copy the data."""
        return {"prefixes": self._prefixes} if self._prefixes else self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        opened = RaggedArray.open(*state["prefixes"]).__dict__ if "prefixes" in state else state
        self.__dict__.update(opened)


def narrowest(greatest: int) -> np.dtype:
    """The narrowest type of rows for numbers from −1 to another."""
    return next(width for width in WIDTHS if greatest < 1 << (8 * width.itemsize - 1))


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

        Raises:
            ValueError: a number needs a wider type.
        """
        narrow = np.ascontiguousarray(values, dtype=self._dtype)
        if self._dtype != values.dtype and not np.array_equal(narrow, values):
            raise ValueError(f"{self._index}: {values.max()} does not fit {self._dtype.name}")
        self._stream.write(narrow.data)
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
