"""Allows torch's safe loader to load the contents of fairseq's checkpoints other than tensors.

Since 2.6 torch loads only types on a list (`weights_only=True`). fairseq's own checkpoints contain
the options as a Namespace, and NumPy numbers and arrays among the metrics; without this list
fairseq's commands could not read their own files. Namespace only takes attributes. The list has
substitutes for NumPy's own classes, because an untrusted pickle could call `numpy.ndarray` and
`numpy.dtype` to make arrays of objects from bytes, and reading those accesses arbitrary memory.
"""

from __future__ import annotations

import io
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from syntax_nmt.arguments import Namespace
from syntax_nmt.errors import UserError

_PLAIN = {
    dtype.str.lstrip("<>|="): dtype
    for dtype in map(
        np.dtype, ("float64", "float32", "float16", "int64", "int32", "uint64", "uint8", "bool")
    )
}
_CORES = ("core", "_core")  # numpy 1 and 2 call it differently


def allow_fairseq_checkpoints() -> None:
    """Puts Namespace and numpy's numbers and arrays on the safe loader's list.

    Raises:
        UserError: this torch would run code in files that fairseq loads.
    """
    if _loads_anything():
        raise UserError(
            f"torch {torch.__version__} would run code that a checkpoint holds: install torch 2.6 "
            f"or newer, and leave TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD unset"
        )
    torch.serialization.add_safe_globals([Namespace, *_numpy_globals()])


def _loads_anything() -> bool:
    """Whether torch loads types that are not on the list; tested, not read from the version."""
    stream = io.BytesIO()
    torch.save(Fraction(1, 2), stream)
    stream.seek(0)
    try:
        torch.load(stream)
    except pickle.UnpicklingError:
        return False
    return True


def _numpy_globals() -> list[Any]:
    """The pickled form of NumPy's numbers and arrays, and their substitutes here."""
    named: list[Any] = [(_PlainArray, "numpy.ndarray"), (_dtype, "numpy.dtype")]
    for core in _CORES:
        named.append((_number, f"numpy.{core}.multiarray.scalar"))
        named.append((_PlainArray, f"numpy.{core}.multiarray._reconstruct"))
    # The loader asks for these before it sets the state of a dtype, which changes nothing there.
    return [*named, *map(type, _PLAIN.values())]


class _PlainArray(np.ndarray):
    """An array of numbers, whose type and bytes come with its state; saved as numpy's own."""

    def __new__(cls, *_: Any) -> _PlainArray:
        return super().__new__(cls, (0,), np.uint8)

    def __setstate__(self, state: Any) -> None:
        version, shape, dtype, is_fortran, data = state
        if not isinstance(data, bytes):
            raise pickle.UnpicklingError("an array without bytes")
        super().__setstate__((version, shape, _plain(dtype), is_fortran, data))

    def __reduce__(self) -> Any:
        return np.array(self).__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.array(self).__reduce_ex__(protocol)


def _dtype(code: Any, *_: Any) -> np.dtype:
    """NumPy's dtype of a code such as `f8`, never a copy, which a pickled state could change."""
    if not isinstance(code, str) or code not in _PLAIN:
        raise pickle.UnpicklingError(f"an array or number of type {code!r:.40}")
    return _PLAIN[code]


def _number(dtype: Any, data: Any) -> Any:
    if not isinstance(data, bytes) or len(data) != _plain(dtype).itemsize:
        raise pickle.UnpicklingError("a number of another width than its type")
    return np.frombuffer(data, dtype)[0]


def _plain(dtype: Any) -> np.dtype:
    if not any(dtype is known for known in _PLAIN.values()):
        raise pickle.UnpicklingError("an array or number of another type than plain numbers")
    return dtype
