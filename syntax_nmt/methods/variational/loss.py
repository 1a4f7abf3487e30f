"""The divergence of posterior and prior, beside the translation loss: the negative bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import AuxiliaryObjective, detached_sum, log_average, log_mean
from syntax_nmt.methods.variational.decoder import (
    POSTERIOR_LOG_VARIANCE,
    POSTERIOR_MEAN,
    PRIOR_LOG_VARIANCE,
    PRIOR_MEAN,
    VariationalDecoder,
)
from syntax_nmt.methods.variational.latent import Gaussian, divergence
from syntax_nmt.methods.variational.options import PRIOR
from syntax_nmt.option_checks import check_from_zero, warn_of_changed

LOGGED = ("kl", "kl_tokens", "active_units", "kl_batches")
_BESIDE_WEIGHT = ("kl_warmup", "free_nats")
_ACTIVE = 0.01  # of the variance of μ over tokens (Burda et al., 2016)


class VariationalObjective(AuxiliaryObjective):
    """`w · min(1, updates / warm-up) · Σ_j max(λ, KL(q_j ∥ p_j))` (Su et al., 2018).

    EOS counts, pads do not. In validation nothing is sampled of a posterior, and it is 0.

    Args:
        weight: w, 1 in the bound.
        warmup: updates in which the weight grows from 0.
        free_nats: λ of a token.
    """

    options = "--criterion variational_cross_entropy, or --kl-weight to syntax_cross_entropy"

    def __init__(self, weight: float, warmup: int, free_nats: float, pad: int) -> None:
        self.weight, self.warmup, self.free_nats, self.pad = weight, warmup, free_nats, pad
        self._updates = 0

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> VariationalObjective | None:
        """Builds the objective; None = its weight is 0.

        Raises:
            UserError: a number is negative, infinite or NaN.
        """
        if options.kl_weight == 0:
            warn_of_changed(options, _BESIDE_WEIGHT, "--kl-weight 0")
            return None
        check_from_zero(options, _BESIDE_WEIGHT)
        pad = task.target_dictionary.pad()
        return cls(options.kl_weight, options.kl_warmup, options.free_nats, pad)

    def without_effect(self, model: nn.Module) -> Mapping[str, Iterable[str]]:
        """All, if the model has no posterior."""
        decoder = getattr(model, "decoder", None)
        if not isinstance(decoder, VariationalDecoder) or decoder.recurrence.posterior is not None:
            return {}
        return {f"--latent-from {PRIOR}": ("kl_weight", *_BESIDE_WEIGHT)}

    def prepare(self, model: nn.Module) -> None:
        """Tells the decoder that what its posterior says is paid for.

        Raises:
            UserError: the model has no latent variables.
        """
        decoder = getattr(model, "decoder", None)
        if not isinstance(decoder, VariationalDecoder):
            raise UserError(
                "the divergence of latent variables needs a decoder that has them: give --arch "
                "variational_rnn, or --latent-dim to another one that has an RNN decoder"
            )
        decoder.pays = True
        self._updates = decoder.updates

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has both Gaussians of every step, B×T×Z, as the decoder gives them.

        Returns:
            the weighted loss summed over tokens, and sums for the log.
        """
        if POSTERIOR_MEAN not in extra:
            zero = sample["target"].new_zeros((), dtype=torch.float32)
            return zero, dict.fromkeys(LOGGED, zero)
        posterior = Gaussian(extra[POSTERIOR_MEAN][0], extra[POSTERIOR_LOG_VARIANCE][0])
        prior = Gaussian(extra[PRIOR_MEAN][0], extra[PRIOR_LOG_VARIANCE][0])
        counts = sample["target"].ne(self.pad)
        found = divergence(posterior, prior).masked_fill(~counts, 0)
        paid = found.clamp(min=self.free_nats).masked_fill(~counts, 0).sum()
        growth = min(1.0, self._updates / self.warmup) if self.warmup else 1.0
        sums = (found, counts, _active_units(posterior.mean, counts), torch.ones_like(paid))
        return self.weight * growth * paid, dict(zip(LOGGED, map(detached_sum, sums)))

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs KL per token, in bits, and the units whose means differ between tokens.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        log_average("kl", total("kl"), total("kl_tokens"))
        log_mean("active_units", total("active_units"), total("kl_batches"))


def _active_units(means: Tensor, counts: Tensor) -> Tensor:
    """How many of the Z means vary over the tokens of a batch, as a number.

    Args:
        means: B×T×Z.
        counts: B×T, True = a token.
    """
    tokens = counts.sum()
    of_tokens = at_least_float32(means.detach()).masked_fill(~counts.unsqueeze(-1), 0)
    mean = of_tokens.sum(dim=(0, 1)) / tokens
    variance = of_tokens.square().sum(dim=(0, 1)) / tokens - mean.square()
    return variance.gt(_ACTIVE).sum()
