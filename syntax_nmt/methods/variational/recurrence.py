"""The steps of a variational decoder: a conditional GRU with a latent variable."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.additive_attention import AttentionMemory
from syntax_nmt.backbone.attentive_recurrence import ConditionalGRU, Recurrence
from syntax_nmt.backbone.gru import GATES, gru_step
from syntax_nmt.backbone.repeated_product import StepLinear, repeated
from syntax_nmt.methods.variational.latent import Gaussian, StepGaussian, sample


class VariationalGRU(Recurrence):
    """`s~_j = GRU1(y_{j−1}, s_{j−1})`; attention from s~_j; z_j from s~_j, y_{j−1} and context c_j;
    `s_j = GRU2([c_j; f(W_z z_j + b_z)], s~_j)` with f = tanh.

    Args:
        steps: both GRUs and the attention.
        input_dim: E, width of the words y.
        memory_dim: M, width of the encoder's states.
        latent_dim: Z.
        has_posterior: training samples from it; otherwise there is the prior alone.
        noise: factor of ε.
    """

    def __init__(
        self,
        steps: ConditionalGRU,
        input_dim: int,
        memory_dim: int,
        latent_dim: int,
        has_posterior: bool = True,
        noise: float = 1.0,
    ) -> None:
        super().__init__()
        self.steps, self.state_dim = steps, steps.state_dim
        self.latent_dim, self.noise = latent_dim, noise
        widths = steps.state_dim, memory_dim, latent_dim
        self.prior = StepGaussian(input_dim, *widths)
        self.posterior = StepGaussian(2 * input_dim, *widths) if has_posterior else None
        self.latent = StepLinear(latent_dim, latent_dim)  # W_z
        self.latent_projection = StepLinear(latent_dim, GATES * steps.state_dim, bias=False)

    def remember(self, encoded: Tensor, padding: Tensor, **further: Tensor) -> AttentionMemory:
        """The source input of all steps: beside that of the GRU that of the prior, and in training
        of the posterior.

        Args:
            encoded: B×S×M.
            padding: B×S, True = pad.
        """
        memory = self.steps.remember(encoded, padding)
        read = [memory.values, self.prior.context(encoded)]
        if self.training and self.posterior is not None:
            read.append(self.posterior.context(encoded))
        return replace(memory, values=torch.cat(read, dim=-1))

    def forward(
        self,
        words: Tensor,
        state: Tensor,
        memory: AttentionMemory,
        following: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, tuple[Gaussian, ...]]:
        """All steps of given words.

        Args:
            words: T×N×E.
            state: N×C, before the first step.
            memory: of :meth:`remember`; N is a multiple of its number of sentences.
            following: the words y_j to come, T×N×E, for z of the posterior, in training; None = z
                is the mean of the prior, or in training a sample of it if there is no posterior.

        Returns:
            the states T×N×C, the attention weights T×N×S, and of all steps, T×N×Z, the prior and,
            with `following`, the posterior.
        """
        gaussian, place, read = self.prior, 0, words
        if following is not None:
            assert self.posterior is not None
            gaussian, place, read = self.posterior, 1, torch.cat([words, following], dim=-1)
        of_words, draws = gaussian.words(read), self._draws(words, following is not None)
        states, weights, found, read_by_prior = [], [], [], []
        with repeated(*self._step_layers(gaussian)):
            for j, inputs in enumerate(self.steps.input_projection(words).unbind()):
                between = gru_step(inputs, self.steps.hidden_projection(state), state)
                hidden, attended = self.steps.attend(between, memory)
                context, *contexts = self._split(memory.input_of(attended))
                chosen = gaussian(of_words[j], contexts[place], between)
                z = chosen.mean if draws is None else sample(chosen, draws[j])
                latent = torch.tanh(self.latent(z.to(between.dtype)))
                state = gru_step(context + self.latent_projection(latent), hidden, between)
                states.append(state)
                weights.append(attended)
                found.append(chosen)
                read_by_prior.append((contexts[0], between))
        of_steps = Gaussian(*_stacked(found))
        gaussians: tuple[Gaussian, ...] = (of_steps,)
        if following is not None:  # no step has read the prior
            gaussians = (self.prior(self.prior.words(words), *_stacked(read_by_prior)), of_steps)
        return torch.stack(states), torch.stack(weights), gaussians

    def _step_layers(self, gaussian: StepGaussian) -> tuple[StepLinear, ...]:
        """The linear maps of a step with this Gaussian."""
        of_latent = (*gaussian.step_layers(), self.latent, self.latent_projection)
        return (*self.steps.step_layers(), *of_latent)

    def _split(self, source: Tensor) -> list[Tensor]:
        """The contexts of the GRU and of each Gaussian."""
        width, each = GATES * self.state_dim, self.latent_dim
        count = (source.size(-1) - width) // each
        return list(source.split([width, *[each] * count], dim=-1))

    def _draws(self, words: Tensor, of_posterior: bool) -> Tensor | None:
        """ε of all steps, T×N×Z; None where z is a mean."""
        samples = self.training and (of_posterior or self.posterior is None)
        if not samples or not self.noise:
            return None
        shape = *words.shape[:2], self.latent_dim
        kind = torch.promote_types(words.dtype, torch.float32)
        return torch.randn(shape, device=words.device, dtype=kind) * self.noise


def _stacked(steps: Sequence[tuple[Tensor, ...]]) -> Iterator[Tensor]:
    """Each part of all steps, T×…"""
    return map(torch.stack, zip(*steps))


def words_to_come(previous: Tensor, pad: int, eos: int) -> Tensor:
    """y_j of every step, B×T: the next input, and EOS after the last one; pads stay pads.

    Args:
        previous: the inputs y_{j−1}, B×T, with pads on either side.
    """
    shifted = nn.functional.pad(previous[:, 1:], (0, 1), value=pad)
    ends = shifted.eq(pad) & previous.ne(pad)
    return shifted.masked_fill(ends, eos)
