"""The openness between two syntactic distances: α of equation 5, as a logarithm."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

HARDTANH, SIGMOID = "hardtanh", "sigmoid"

# Differences of distances, and a temperature -> log α and its derivative by the difference.
Openness = Callable[[Tensor, float], tuple[Tensor, Tensor]]


def hardtanh_log_openness(difference: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """`log α` of `α(x) = (hardtanh(τx) + 1) / 2` (Harada and Watanabe, 2021, equation 5).

    Args:
        difference: x, of any shape; not kept.
        temperature: τ.

    Returns:
        log α, −inf where closed, and its derivative, 0 where hardtanh is flat.
    """
    alpha = difference.mul_(temperature / 2).add_(0.5).clamp_(0, 1)
    slope = torch.where((alpha > 0) & (alpha < 1), (temperature / 2) / alpha, 0.0)
    return alpha.log_(), slope


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
