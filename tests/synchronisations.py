"""Counts what would make the processor wait for a GPU, on any device, and says which line asks."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import fairseq
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import syntax_nmt

OURS = Path(syntax_nmt.__file__).parent
PACKAGES = (OURS, Path(fairseq.__file__).parent)
BACKWARD = "backward pass"

aten = torch.ops.aten
# The size of the result, or the number itself, is only known on the device.
READING = {
    aten._local_scalar_dense, aten.nonzero, aten.masked_select, aten.masked_scatter_backward,
    aten.equal, aten.is_nonzero, aten.allclose, aten.bincount, aten.histc, aten._unique2,
    aten.unique_dim, aten.unique_consecutive, aten.unique_dim_consecutive,
}  # fmt: skip
INDEXING = {aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_}
COPIES = {aten._to_copy, aten.copy_}
MASKS = (torch.bool, torch.uint8)

# What never reaches the dispatcher on a CPU, or not in a form that tells it.
TO_HOST = {Tensor.tolist, Tensor.numpy, Tensor.cpu, Tensor.__array__}
FROM_HOST = {torch.tensor, torch.as_tensor, torch.from_numpy, Tensor.new_tensor}
SUBSCRIPTS = {Tensor.__getitem__, Tensor.__setitem__}


class Synchronisations:
    """Counts of "file:line, what" while :meth:`counted` lasts; `ours` of this package alone."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    @property
    def ours(self) -> Counter[str]:
        """Those that fairseq did not ask for."""
        own = str(OURS.name)
        return Counter({k: n for k, n in self.counts.items() if k.startswith((own, BACKWARD))})

    @contextmanager
    def counted(self) -> Iterator[Synchronisations]:
        """Counts what happens inside."""
        with _Dispatched(self), _Called(self):
            yield self

    def add(self, what: str) -> None:
        """Counts one."""
        self.counts[f"{_asked_by(sys._getframe(2))}, {what}"] += 1


class _Dispatched(TorchDispatchMode):
    """Sees operators, also those of the backward pass."""

    def __init__(self, found: Synchronisations) -> None:
        super().__init__()
        self.found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _waits(func.overloadpacket, func, args, kwargs):
            self.found.add(func.overloadpacket.__name__)
        return func(*args, **kwargs)


class _Called(TorchFunctionMode):
    """Sees calls from Python."""

    def __init__(self, found: Synchronisations) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        listed = func in SUBSCRIPTS and _lists(args[1])
        if func in TO_HOST or func in FROM_HOST or listed:
            self.found.add(func.__name__)
        return func(*args, **kwargs)


def _waits(packet: Any, func: Any, args: Any, kwargs: Any) -> bool:
    if packet in READING:
        return True
    if packet is aten.repeat_interleave:
        return func is aten.repeat_interleave.Tensor and kwargs.get("output_size") is None
    if packet in INDEXING:
        masked = any(index is not None and index.dtype in MASKS for index in args[1])
        # One number for all selected places is a masked_fill.
        return masked and (packet is aten.index or args[2].numel() > 1)
    if packet in COPIES:
        tensors = [x for x in args if isinstance(x, Tensor)]
        devices = {x.device.type for x in tensors}
        if packet is aten._to_copy and kwargs.get("device") is not None:
            devices.add(torch.device(kwargs["device"]).type)
        return len(devices) > 1
    return False


def _lists(index: Any) -> bool:
    """Whether a subscript has a list, which is copied to the device."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, list) for part in parts)


def _asked_by(frame: FrameType | None) -> str:
    """The innermost line of syntax_nmt or fairseq."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        for package in PACKAGES:
            if path.is_relative_to(package):
                return f"{path.relative_to(package.parent)}:{frame.f_lineno}"
        frame = frame.f_back
    return BACKWARD
