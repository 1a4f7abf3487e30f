"""Products with the same matrix at every step of a recurrence, whose gradient is computed once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class RepeatedProduct:
    """`x M` at many steps: the gradient of M is one product over all steps.

    Recorded step by step, it would be a product and a sum of matrices at every step.

    Args:
        matrix: K×O, or B×K×O for a matrix a sentence.
        bias: O, added to products with a K×O matrix.
        long: steps have so many rows that all of them together would take too much memory: the
            gradient is added up step by step, in place.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None = None, long: bool = False) -> None:
        device = matrix.device.type
        if torch.is_autocast_enabled(device):
            kind = torch.get_autocast_dtype(device)
            matrix, bias = matrix.to(kind), None if bias is None else bias.to(kind)
        self.matrix, self.bias, self.long = matrix, bias, long
        self._steps: list[tuple[Tensor, Tensor]] = []  # inputs and gradients, in a backward pass
        self._pass = -1  # the backward pass that they are of
        # Of a long one, the gradients of the steps so far, that of the matrix transposed.
        self._sums: tuple[Tensor, Tensor | None] | None = None
        self._source = _Gradient.apply(matrix, bias, self) if torch.is_grad_enabled() else None

    def __call__(self, x: Tensor) -> Tensor:
        """One step.

        Args:
            x: N×K, or B×N×K.

        Returns:
            N×O, or B×N×O.
        """
        x = x.to(self.matrix.dtype)
        return self.product(x) if self._source is None else _Step.apply(x, self._source, self)

    def product(self, x: Tensor) -> Tensor:
        """The product of one step, without a gradient of the matrix."""
        if self.bias is None:
            return torch.matmul(x, self.matrix)
        return torch.addmm(self.bias, x, self.matrix)

    def add(self, x: Tensor, gradient: Tensor) -> None:
        """Adds a step to the gradients of the matrix and the bias.

        Args:
            x: N×K, or B×N×K.
            gradient: of the step's product, N×O or B×N×O.
        """
        # A pass that asks for gradients of other tensors only never calls `gradients`. torch has no
        # public name for the number of a pass; this one is what its own autograd.graph reads.
        backward_pass = torch._C._current_graph_task_id()
        if backward_pass != self._pass:
            self._steps, self._sums, self._pass = [], None, backward_pass
        if not self.long:
            # Detached: the graph holds this object, which must not hold the graph.
            self._steps.append((x.detach(), gradient.detach()))
        elif self._sums is None:
            self._sums = self._gradients(x, gradient)
        else:
            matrix, bias = self._sums
            matrix.addmm_(gradient.t(), x)
            if bias is not None:
                bias.add_(gradient.sum(dim=0))

    def gradients(self) -> tuple[Tensor | None, Tensor | None]:
        """The gradients of the matrix and the bias, after all steps, which it forgets."""
        if self._steps:
            inputs, gradients = (torch.cat(each, dim=-2) for each in zip(*self._steps))
            self._sums, self._steps = self._gradients(inputs, gradients), []
        if self._sums is None:
            return None, None
        (matrix, bias), self._sums = self._sums, None
        # As the transpose of a weight's gradient, which is then laid out as the weight is.
        return matrix.transpose(-1, -2), bias

    def _gradients(self, x: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
        of_bias = None if self.bias is None else gradient.sum(dim=0)
        return torch.matmul(gradient.transpose(-1, -2), x), of_bias


class _Gradient(torch.autograd.Function):
    """Its backward pass comes after those of all steps: each step reads its output."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, bias: Tensor | None, uses: RepeatedProduct) -> Tensor:
        ctx.uses = uses
        ctx.set_materialize_grads(False)
        return matrix.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *unread: Tensor | None) -> tuple[Tensor | None, ...]:
        return *ctx.uses.gradients(), None


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Tensor, uses: RepeatedProduct) -> Tensor:
        ctx.uses = uses
        ctx.save_for_backward(x)
        return uses.product(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (x,), (gradient,) = ctx.saved_tensors, gradients
        if ctx.needs_input_grad[1]:
            ctx.uses.add(x, gradient)
        matrix = ctx.uses.matrix
        of_x = torch.matmul(gradient, matrix.transpose(-1, -2)) if ctx.needs_input_grad[0] else None
        return of_x, None, None


class StepLinear(nn.Linear):
    """A linear map that a recurrence applies at every step; see :func:`repeated`."""

    uses: RepeatedProduct | None = None

    def forward(self, x: Tensor) -> Tensor:
        """The map.

        Args:
            x: …×K.

        Returns:
            …×O.
        """
        if self.uses is None:
            return super().forward(x)
        return self.uses(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


@contextmanager
def repeated(*layers: StepLinear) -> Iterator[None]:
    """Within the context, which is around all steps, the gradients are computed once for all.

    Args:
        *layers: each is applied once a step.
    """
    if torch.is_grad_enabled():
        for layer in layers:
            layer.uses = RepeatedProduct(layer.weight.t(), layer.bias)
    try:
        yield
    finally:
        for layer in layers:
            layer.uses = None


class JointProduct:
    """Linear maps of the same input at every step: in training one product, split afterwards.

    Without a gradient the layers are called one by one: a search makes one step at a time, and
    would copy their weights at each.

    Args:
        *layers: each …×K to …×O of its own.
        long: as of :class:`RepeatedProduct`.
    """

    def __init__(self, *layers: nn.Linear, long: bool = False) -> None:
        self._layers = layers
        self._product: RepeatedProduct | None = None
        self._widths = tuple(layer.out_features for layer in layers)
        if torch.is_grad_enabled():
            weights: list[Tensor] = [layer.weight for layer in layers]
            bias = None
            if any(layer.bias is not None for layer in layers):
                bias = torch.cat([
                    layer.weight.new_zeros(width) if layer.bias is None else layer.bias
                    for layer, width in zip(layers, self._widths)
                ])  # fmt: skip
            self._product = RepeatedProduct(torch.cat(weights).t(), bias, long)

    def __call__(self, x: Tensor) -> tuple[Tensor, ...]:
        """What each layer makes of the input.

        Args:
            x: …×K.
        """
        if self._product is None:
            return tuple(layer(x) for layer in self._layers)
        products = self._product(x.flatten(0, -2)).unflatten(0, x.shape[:-1])
        return tuple(products.split(self._widths, dim=-1))


def split_after(count: int, x: Tensor, dim: int = -1) -> tuple[Tensor, Tensor]:
    """The first columns (or what else `dim` says) and the others, as of two products side by side.

    Args:
        count: of the first part.
    """
    # One split: the gradient of two slices would be two tensors as wide as x, mostly zeros.
    first, second = x.split((count, x.size(dim) - count), dim=dim)
    return first, second
