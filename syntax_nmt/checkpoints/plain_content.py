"""The content of a checkpoint without its options: plain data, which every reader sees alike.

A safe pickle can still set attributes: of an OrderedDict, so that `items` is another function than
the one of its class; of a tensor, so that a method is one that answers otherwise. Both would be
checked as one thing and used as another. So types are compared exactly, and attributes refused.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from syntax_nmt.errors import UserError

MAPPINGS = (dict, OrderedDict)
_LISTS = frozenset({list, tuple, set})
_SINGLE = frozenset(
    {type(None), bool, int, float, complex, str, bytes, torch.Size, torch.dtype, torch.device}
)
_NUMPY = (np.number, np.bool_, np.ndarray)  # the safe loader makes no others than plain ones
_TENSORS = frozenset({Tensor, nn.Parameter})
# What torch attaches to the weights of a module: versions of its layers.
_ATTRIBUTES = frozenset({"_metadata"})


def tensors_of(path: str | Path, parts: Mapping[str, Any], remedy: str) -> Iterator[Tensor]:
    """All tensors of a checkpoint's parts, each once.

    Args:
        path: of the checkpoint, for messages.
        parts: by name, without the options.
        remedy: what to do, for messages.

    Raises:
        UserError: something is no plain data, or a tensor is not a dense one in memory, or repeats
            its numbers; names the part.
    """
    for name, part in parts.items():
        known: set[int] = set()
        stack = [part]
        while stack:
            value = stack.pop()
            kind = type(value)
            if kind in _SINGLE or id(value) in known:
                continue
            known.add(id(value))
            if kind in MAPPINGS:
                attributes = getattr(value, "__dict__", {})
                if not attributes.keys() <= _ATTRIBUTES:
                    raise UserError(
                        f"{path}: its {name} has a dictionary with the attribute "
                        f"{min(attributes.keys() - _ATTRIBUTES)}: {remedy}"
                    )
                stack += [*attributes.values(), *dict.keys(value), *dict.values(value)]
            elif kind in _LISTS:
                stack += value
            elif kind in _TENSORS:
                if vars(value):
                    raise UserError(
                        f"{path}: its {name} has a tensor with the attribute {min(vars(value))}: "
                        f"{remedy}"
                    )
                if value.layout != torch.strided or value.is_quantized or not value.device == _CPU:
                    raise UserError(f"{path}: its {name} has what is no dense tensor: {remedy}")
                if value.numel() * value.element_size() > value.untyped_storage().nbytes():
                    raise UserError(
                        f"{path}: its {name} has a tensor of {value.numel()} numbers, of which the "
                        f"file has fewer: {remedy}"
                    )
                yield value
            elif not isinstance(value, _NUMPY):
                raise UserError(f"{path}: its {name} holds a {kind.__name__}: {remedy}")


_CPU = torch.device("cpu")
