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
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None = None) -> None:
        device = matrix.device.type
        if torch.is_autocast_enabled(device):
            kind = torch.get_autocast_dtype(device)
            matrix, bias = matrix.to(kind), None if bias is None else bias.to(kind)
        self.matrix, self.bias = matrix, bias
        self.steps: list[tuple[Tensor, Tensor]] = []  # inputs and gradients, in a backward pass
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
        """The same, without a gradient of the matrix."""
        if self.bias is None:
            return torch.matmul(x, self.matrix)
        return torch.addmm(self.bias, x, self.matrix)


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
        steps, ctx.uses.steps = ctx.uses.steps, []
        if not steps:
            return None, None, None
        inputs, gradients = (torch.cat(each, dim=-2) for each in zip(*steps))
        of_bias = gradients.sum(dim=0) if ctx.needs_input_grad[1] else None
        # As the transpose of a weight's gradient, which is then laid out as the weight is.
        of_matrix = torch.matmul(gradients.transpose(-1, -2), inputs).transpose(-1, -2)
        return of_matrix, of_bias, None


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
            ctx.uses.steps.append((x, gradient))
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


def split_after(columns: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of a product with two matrices side by side.

    Args:
        columns: of the first part.
        x: …×O.
    """
    # One split: the gradient of two slices would be two tensors as wide as x, mostly zeros.
    first, second = x.split((columns, x.size(-1) - columns), dim=-1)
    return first, second
