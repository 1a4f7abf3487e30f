"""Keyword arguments for layers that fairseq's code calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn


@contextmanager
def handing_over(
    layers: Iterable[nn.Module], arguments: Iterable[Mapping[str, Any]]
) -> Iterator[None]:
    """Within the context, each layer receives keyword arguments besides those of its caller.

    They reach the layer as arguments, not as its state: activation checkpointing keeps them for the
    backward pass and carries gradients into them, and two forward passes may precede a backward.

    Args:
        layers: whose forward methods are called by fairseq's encoder or decoder.
        arguments: of each layer.
    """
    hooks = [
        layer.register_forward_pre_hook(partial(_add_arguments, more), with_kwargs=True)
        # Arguments first: where there are none, layers with layer drop draw no random numbers.
        for more, layer in zip(arguments, layers)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _add_arguments(
    more: Mapping[str, Any], layer: nn.Module, args: Any, kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    return args, {**kwargs, **more}
