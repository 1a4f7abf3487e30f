"""Hooks into layers that fairseq's code calls: they add keyword arguments, and collect outputs that
fairseq does not read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn


@contextmanager
def extra_layer_inputs(
    layers: Iterable[nn.Module], arguments: Iterable[Mapping[str, Any]]
) -> Iterator[None]:
    """Within the context, each layer receives keyword arguments in addition to its caller's.

    They reach the layer as arguments, not as its state: activation checkpointing keeps them for the
    backward pass and carries gradients into them, and two forward passes may precede a backward.

    Args:
        layers: whose forward methods are called by fairseq's encoder or decoder.
        arguments: of each layer.
    """
    hooks = [
        layer.register_forward_pre_hook(partial(_add_arguments, more), with_kwargs=True)
        # zip reads `arguments` first: if there are none, it never iterates `layers`, which under
        # layer drop draws random numbers.
        for more, layer in zip(arguments, layers)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def changed_outputs(
    module: nn.Module, changes: Iterable[Callable[[Tensor], Tensor]]
) -> Iterator[None]:
    """Within the context, what fairseq's code gets of a module is changed, by each in order."""

    def change(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        for each in changes:
            output = each(output)
        return output

    hook = module.register_forward_hook(change)
    try:
        yield
    finally:
        hook.remove()


def _add_arguments(
    more: Mapping[str, Any], layer: nn.Module, args: Any, kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    return args, {**kwargs, **more}


class EncoderLayerOutput(NamedTuple):
    """The output of an encoder layer with extensions; fairseq's encoder gets `x`.

    Flat, because activation checkpointing passes gradients only to the members of a tuple.

    Attributes:
        x: S×B×C.
        more: what the layer of a method computes for its extension beside it.
        attention_input: what the self-attention sublayer gets, S×B×C.
        distances: syntactic distances of its heads, B×H×S.
        attention: its weights averaged over heads, B×S×S.
    """

    x: Tensor
    more: Tensor | None = None
    attention_input: Tensor | None = None
    distances: Tensor | None = None
    attention: Tensor | None = None


class DecoderLayerOutput(NamedTuple):
    """The output of a decoder layer with extensions; fairseq's decoder gets the first three.

    Attributes:
        x: T×B×C.
        cross_attention: weights to the source, B×T×S averaged over heads or H×B×T×S.
        state: only fairseq's ONNX export has one.
        distances: syntactic distances of the self-attention's heads, B×H×T.
        attention: weights of the self-attention averaged over heads, B×T×T.
    """

    x: Tensor
    cross_attention: Tensor | None = None
    state: None = None
    distances: Tensor | None = None
    attention: Tensor | None = None

    @property
    def mean_cross_attention(self) -> Tensor | None:
        """B×T×S, also for the layer of alignments, which returns each head's weights."""
        weights = self.cross_attention
        return weights.mean(dim=0) if weights is not None and weights.dim() == 4 else weights


@contextmanager
def captured_layer_outputs(
    modules: Iterable[nn.Module], passed_on: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Within the context, keeps what modules return; callers get only the first members.

    Args:
        modules: fairseq's code calls them; they return tuples, or a single tensor, which is passed
            on unchanged.
        passed_on: how many members the caller gets; a single one does not come in a tuple.

    Yields:
        of each module, the output of its last call: a decoder that chooses target factors calls its
        layers for each word before it calls them for all. () = not called.
    """
    outputs: list[tuple[Any, ...]] = []
    hooks = []
    for number, module in enumerate(modules):
        outputs.append(())
        keep = partial(_keep, outputs, number, passed_on)
        hooks.append(module.register_forward_hook(keep))
    try:
        yield outputs
    finally:
        for hook in hooks:
            hook.remove()


def _keep(
    outputs: list[tuple[Any, ...]],
    number: int,
    passed_on: int,
    module: nn.Module,
    args: Any,
    output: Any,
) -> Any:
    if isinstance(output, Tensor):
        outputs[number] = (output,)
        return output
    outputs[number] = output
    return output[0] if passed_on == 1 else tuple(output[:passed_on])
