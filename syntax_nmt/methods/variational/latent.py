"""Diagonal Gaussians of a target step, samples of them, and their divergence."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.repeated_product import StepLinear

_MOST = 10.0  # of |log σ²|: it keeps exponentials, and with them the divergence, finite


class Gaussian(NamedTuple):
    """A diagonal Gaussian for each row, at least in float32.

    Attributes:
        mean: μ, N×Z.
        log_variance: log σ², N×Z, within ±10.
    """

    mean: Tensor
    log_variance: Tensor


class StepGaussian(nn.Module):
    """`h = tanh(W [E y; s~; c] + b)`, then μ and log σ² linear in h (Su et al., 2018).

    The caller computes the products with words and contexts, which do not depend on the recurrence.

    Args:
        word_dim: width of the words that it reads: E, or 2E with the word to come.
        state_dim: C.
        memory_dim: M, width of the encoder's states.
        latent_dim: Z, also the width of h.
    """

    def __init__(self, word_dim: int, state_dim: int, memory_dim: int, latent_dim: int) -> None:
        super().__init__()
        self.words = nn.Linear(word_dim, latent_dim)
        self.context = nn.Linear(memory_dim, latent_dim, bias=False)
        self.state = StepLinear(state_dim, latent_dim, bias=False)
        self.parameters_of = StepLinear(latent_dim, 2 * latent_dim)

    def forward(self, words: Tensor, context: Tensor, state: Tensor) -> Gaussian:
        """The Gaussian of a step.

        Args:
            words: N×Z, the product of :attr:`words`.
            context: N×Z, that of :attr:`context`.
            state: s~, N×C.
        """
        hidden = torch.tanh(words + context + self.state(state))
        mean, log_variance = at_least_float32(self.parameters_of(hidden)).chunk(2, dim=-1)
        return Gaussian(mean, log_variance.clamp(-_MOST, _MOST))

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps of a step."""
        return self.state, self.parameters_of


def sample(of: Gaussian, noise: Tensor) -> Tensor:
    """`z = μ + σ ∘ ε`, N×Z.

    Args:
        noise: ε, N×Z.
    """
    return torch.addcmul(of.mean, (of.log_variance / 2).exp(), noise)


def divergence(posterior: Gaussian, prior: Gaussian) -> Tensor:
    """`KL(q ∥ p) = ½ Σ [log σ'² − log σ² + (σ² + (μ − μ')²) / σ'² − 1]`, over Z."""
    ratio = posterior.log_variance - prior.log_variance
    distance = (posterior.mean - prior.mean).square() * (-prior.log_variance).exp()
    return (ratio.exp() + distance - ratio - 1).sum(dim=-1) / 2
