"""fairseq's mmap format, `.idx` and `.bin`, opened only if the two are whole and agree.

fairseq's own reader trusts the index: if it is damaged, the reader fails at an assertion, or reads
numbers of other sentences.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")  # magic, version, number type, rows
_VERSION = 1
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
