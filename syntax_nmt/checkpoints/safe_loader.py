"""What fairseq's checkpoints hold besides tensors, made known to torch's safe loader.

Since 2.6 torch loads only what is on a list (`weights_only=True`). fairseq's own checkpoints hold
the options as a Namespace, and numpy numbers and arrays among the metrics; without this list none
of its commands could read what another wrote. Namespace only takes attributes. numpy's own classes
are not on the list but stand-ins for them: `numpy.ndarray` and `numpy.dtype`, called as a
stranger's pickle likes, make arrays of objects out of bytes, and whatever reads those runs into any
memory.
"""

from __future__ import annotations

import io
import pickle
from argparse import Namespace
from fractions import Fraction
from typing import Any

import numpy as np
import torch

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
        UserError: this torch loads code, too: everything that fairseq loads would run.
    """
    if _loads_anything():
        raise UserError(
            f"torch {torch.__version__} would run code that a checkpoint holds: install torch 2.6 "
            f"or newer, and leave TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD unset"
        )
    torch.serialization.add_safe_globals([Namespace, *_numpy_globals()])


def _loads_anything() -> bool:
    """Whether torch loads what is on no list; tried, as a version's number does not tell."""
    stream = io.BytesIO()
    torch.save(Fraction(1, 2), stream)
    stream.seek(0)
    try:
        torch.load(stream)
    except pickle.UnpicklingError:
        return False
    return True


def _numpy_globals() -> list[Any]:
    """What numpy's numbers and arrays are pickled as, and what is made of it here."""
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
    """numpy's one dtype of a code such as `f8`, never a copy, which its state could change."""
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
