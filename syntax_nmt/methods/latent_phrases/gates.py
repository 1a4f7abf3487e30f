"""Which positions the syntactic distances let attend to which (Harada and Watanabe, 2021)."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid

# Greater than any difference of two distances; gates to it are open at every temperature.
_FAR = 1e4


HARDTANH, SIGMOID = "hardtanh", "sigmoid"


# Differences of distances, and a temperature -> log α and its derivative by the difference.
Openness = Callable[[Tensor, float], tuple[Tensor, Tensor]]


def log_phrase_gates(
    distances: Tensor,
    padding: Tensor | None = None,
    *,
    both_directions: bool,
    temperature: float = 1.0,
    alpha: str = HARDTANH,
    queries: int | None = None,
) -> Tensor:
    """`log g`, which is added to the logits of an attention: equations 5 and 6.

    From t to an earlier i, `g_{i,t} = Π_{j=i+1}^{t−1} α(d_t − d_j)`. The paper has no formula for a
    later i; it is the mirror image, because d_j is the gap before j:
    `Π_{j=t+2}^{i} α(d_{t+1} − d_j)`. A position itself and its neighbours are always open.
    `g·a / Σ g·a` of softmax weights a is the softmax of the logits plus `log g`.

    Time and memory are O(S²) per head. Sums of logarithms include only open factors; closed factors
    are counted, so that a product with a zero is exactly −inf.

    Args:
        distances: d, B×H×S, in float32 at least.
        padding: B×S, True = pad; pads are closed and enter no product. Their own rows, which are
            not read, keep an open position for the softmax.
        both_directions: also to later positions; otherwise these are closed.
        temperature: τ.
        alpha: α, `hardtanh` or `sigmoid`.
        queries: number of positions, the last ones, whose rows are returned; all by default.

    Returns:
        B×H×queries×S.
    """
    if queries == 1 and padding is None and not (both_directions or torch.is_grad_enabled()):
        return _of_last(distances, temperature, alpha)
    rows, columns, pads = distances, distances, None
    if padding is not None:
        pads = padding[:, None, :]
        rows, columns = distances.masked_fill(pads, _FAR), distances.masked_fill(pads, -_FAR)
    following = None
    if both_directions:  # d_{t+1}; after the last position nothing is compared with it
        following = torch.cat([rows[..., 1:], rows[..., -1:]], dim=2)
    if queries is not None:
        rows = rows[..., -queries:]
        following = None if following is None else following[..., -queries:]
    return _LogProducts.apply(rows, following, columns, pads, temperature, alpha)


def _of_last(distances: Tensor, temperature: float, alpha: str) -> Tensor:
    """The row of the last position t, B×H×1×S: few kernels for a search step.

    At i it has the sum of log α over the positions between i and t.
    """
    difference = distances[..., -1:] - distances[..., 1:-1]
    log_alpha, _ = OPENNESS[alpha](difference, temperature)
    between = log_alpha.flip(2).cumsum(dim=2).flip(2)
    return F.pad(between, (0, 2))[..., : distances.size(2)].unsqueeze(2)


class _LogProducts(torch.autograd.Function):
    """The sums of log α along each row; one tensor of their size is kept for the gradient.

    With `A_{t,j}` the log α of row t at column j (0 in columns t and t + 1) and F its running sum
    over j, the past of row t is `F_t − F_i` and its future `F_i − F_t`.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        following: Tensor | None,
        columns: Tensor,
        pads: Tensor | None,
        temperature: float,
        alpha: str,
    ) -> Tensor:
        queries, length = rows.size(2), columns.size(2)
        first = length - queries  # position of the first row
        ahead = torch.arange(length, device=rows.device) - torch.arange(
            first, length, device=rows.device
        ).unsqueeze(1)  # i − t
        future = ahead > 0
        difference = rows.unsqueeze(3)
        if following is not None:
            difference = torch.where(future, following.unsqueeze(3), difference)
        difference = difference - columns.unsqueeze(2)
        outside = (ahead == 0) | (ahead == 1 if following is not None else future)
        log_alpha, slope = OPENNESS[alpha](difference, temperature)
        log_alpha.masked_fill_(outside, 0.0)
        slope.masked_fill_(outside, 0.0)
        is_closed = log_alpha.isneginf()
        sums = log_alpha.masked_fill_(is_closed, 0.0).cumsum_(dim=3)
        closed = is_closed.cumsum(dim=3, dtype=torch.int32)
        sums = sums.sub_(_of_own_position(sums, first))
        sums.mul_(torch.where(future, 1.0, -1.0).to(sums))
        closed = closed != _of_own_position(closed, first)
        if following is None:
            closed = closed | future
        if pads is not None:
            closed = (closed | pads.unsqueeze(2)) & (ahead != 0)
        ctx.save_for_backward(slope, future)
        ctx.both_directions = following is not None
        return sums.masked_fill_(closed, float("-inf"))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        slope, future = ctx.saved_tensors
        (gradient,) = gradients
        running = gradient.cumsum(dim=3)
        total = running[..., -1:].clone()
        running.sub_(gradient)  # over i < j
        if ctx.both_directions:
            running = torch.where(future, total - running, running)
        of_difference = running.mul_(slope)
        of_columns = of_difference.sum(dim=2).neg_()
        if not ctx.both_directions:
            return of_difference.sum(dim=3), None, of_columns, None, None, None
        of_following = of_difference.masked_fill(~future, 0.0).sum(dim=3)
        of_rows = of_difference.sum(dim=3).sub_(of_following)
        return of_rows, of_following, of_columns, None, None, None


def _of_own_position(sums: Tensor, first: int) -> Tensor:
    """The value of each row in the column of its own position, B×H×queries×1."""
    return sums.diagonal(offset=first, dim1=2, dim2=3).unsqueeze(3).clone()


def hardtanh_log_openness(difference: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """`log α` of `α(x) = (hardtanh(τx) + 1) / 2` (Harada and Watanabe, 2021, equation 5).

    Args:
        difference: x, of any shape; not kept.
        temperature: τ.

    Returns:
        log α, −inf where closed, and its derivative, 0 where hardtanh is flat.
    """
    openness = difference.mul_(temperature / 2).add_(0.5).clamp_(0, 1)
    slope = torch.where((openness > 0) & (openness < 1), (temperature / 2) / openness, 0.0)
    return openness.log_(), slope


def sigmoid_log_openness(difference: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """`log α` of `α(x) = sigmoid(τx)`, the gate of the authors' released code (τ = 10).

    Args:
        difference: x, of any shape; not kept.
        temperature: τ.

    Returns:
        log α and its derivative.
    """
    log_alpha = logsigmoid(difference.mul_(temperature))
    return log_alpha, temperature * -torch.expm1(log_alpha)


OPENNESS: dict[str, Openness] = {HARDTANH: hardtanh_log_openness, SIGMOID: sigmoid_log_openness}
