"""Counts what makes the processor wait for a GPU, on any device, and says which line asks for it.

On a CPU nothing is waited for, but the same calls are made. There a tensor counts as one of the
host's, not of the device's, where it was made without a device, was taken to the host, or was
computed from such tensors alone.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import fairseq
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import syntax_nmt

OURS, FAIRSEQ, BACKWARD = "syntax_nmt", "fairseq", "backward pass"
_PACKAGES = [Path(package.__file__).parent for package in (syntax_nmt, fairseq)]

_aten = torch.ops.aten
# A number, or the size of the result, is known on the device alone.
_READING = {
    _aten._local_scalar_dense, _aten.nonzero, _aten.masked_select, _aten.masked_scatter_backward,
    _aten.equal, _aten.is_nonzero, _aten.allclose, _aten.bincount, _aten.histc, _aten._unique2,
    _aten.unique_dim, _aten.unique_consecutive, _aten.unique_dim_consecutive,
}  # fmt: skip
_INDEXING = {_aten.index, _aten.index_put, _aten.index_put_, _aten._index_put_impl_}
_MASKS = (torch.bool, torch.uint8)
# What a CPU does without asking the dispatcher.
_TO_HOST = {Tensor.tolist, Tensor.numpy, Tensor.cpu, Tensor.__array__}
_TO_DEVICE = {Tensor.to, Tensor.cuda, Tensor.type_as}
_FACTORIES = {
    torch.tensor, torch.as_tensor, torch.from_numpy, torch.arange, torch.zeros, torch.ones,
    torch.full, torch.empty, torch.rand, torch.randn,
}  # fmt: skip
_SUBSCRIPTS = {Tensor.__getitem__, Tensor.__setitem__}


class Synchronisations:
    """How often each `file:line, call` waited."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._of_host: dict[int, Any] = {}  # storages, kept so that their addresses stay theirs
        self._within = False

    @property
    def ours(self) -> dict[str, int]:
        """Those that fairseq did not ask for."""
        return {what: n for what, n in self.counts.items() if not what.startswith(FAIRSEQ)}

    def add(self, call: str) -> None:
        """Counts a call that the innermost line of one of the packages made."""
        if not self._within:
            self.counts[f"{_asked_by(sys._getframe(2))}, {call}"] += 1

    @contextmanager
    def counted_already(self) -> Iterator[None]:
        """Within the context, operators below a counted call are not counted: it waits once."""
        self._within = True
        try:
            yield
        finally:
            self._within = False

    def put_on_host(self, tensor: Tensor) -> None:
        """Takes a tensor for one of the host's."""
        storage = tensor.untyped_storage()
        self._of_host[storage._cdata] = storage

    def is_of_device(self, tensor: Any) -> bool:
        """Whether it is a tensor that would be on the GPU, or is."""
        if not isinstance(tensor, Tensor):
            return False
        return tensor.is_cuda or (
            not _is_virtual(tensor) and tensor.untyped_storage()._cdata not in self._of_host
        )


@contextmanager
def counted() -> Iterator[Synchronisations]:
    """Counts what happens inside."""
    found = Synchronisations()
    with ExitStack() as stack:
        stack.enter_context(_Dispatched(found))
        stack.enter_context(_Called(found))
        yield found


class _Dispatched(TorchDispatchMode):
    """Sees operators, those of the backward pass, too."""

    def __init__(self, found: Synchronisations) -> None:
        super().__init__()
        self.found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        of_device = [self.found.is_of_device(x) for x in given]
        if any(of_device) and _waits(func, args, kwargs):
            self.found.add(func.overloadpacket.__name__)
        result = func(*args, **kwargs)
        if given and not any(of_device):
            for x in tree_leaves(result):
                if isinstance(x, Tensor):
                    self.found.put_on_host(x)
        return result


class _Called(TorchFunctionMode):
    """Sees calls from Python."""

    def __init__(self, found: Synchronisations) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        found, first = self.found, args[0] if args else None
        if func in _TO_HOST and found.is_of_device(first):
            found.add(func.__name__)
            with found.counted_already():
                result = func(*args, **kwargs)
            if isinstance(result, Tensor):
                # A copy: on a CPU it would be the tensor itself.
                result = result.clone()
                found.put_on_host(result)
            return result
        listed = func in _SUBSCRIPTS and found.is_of_device(first) and _has_list(args[1])
        moved = func in _TO_DEVICE and isinstance(first, Tensor) and not found.is_of_device(first)
        filled = func is Tensor.new_tensor
        counted = listed or moved or filled
        if counted:
            found.add(func.__name__)
        with found.counted_already() if counted else nullcontext():
            result = func(*args, **kwargs)
        if moved:
            return result.clone()
        if func in _FACTORIES:
            if kwargs.get("device") is None:
                found.put_on_host(result)
            elif func in (torch.tensor, torch.as_tensor):
                found.add(func.__name__)
        return result


def _waits(func: Any, args: Any, kwargs: Any) -> bool:
    packet = func.overloadpacket
    if packet in _READING:
        return True
    if packet is _aten.repeat_interleave:
        return kwargs.get("output_size") is None
    if packet in _INDEXING:
        masked = any(index is not None and index.dtype in _MASKS for index in args[1])
        # One number for all selected places is a masked_fill.
        return masked and (packet is _aten.index or args[2].numel() > 1)
    if packet in (_aten._to_copy, _aten.copy_):
        devices = {x.device.type for x in args if isinstance(x, Tensor)}
        if kwargs.get("device") is not None:
            devices.add(torch.device(kwargs["device"]).type)
        return len(devices) > 1 and not kwargs.get("non_blocking")
    return False


def _has_list(index: Any) -> bool:
    """Whether a subscript has a list, which is copied to the device."""
    return any(isinstance(part, list) for part in (index if isinstance(index, tuple) else (index,)))


def _is_virtual(tensor: Tensor) -> bool:
    """Whether there is no memory behind it."""
    return tensor.device.type == "meta"


def _asked_by(frame: FrameType | None) -> str:
    """The innermost line of one of the packages; the backward pass has none."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        for package in _PACKAGES:
            if path.is_relative_to(package):
                return f"{path.relative_to(package.parent)}:{frame.f_lineno}"
        frame = frame.f_back
    return BACKWARD
