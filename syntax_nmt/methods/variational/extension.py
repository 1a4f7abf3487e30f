"""Latent variables in an RNN decoder."""

from __future__ import annotations

from syntax_nmt.backbone.attentive_recurrence import ConditionalGRU
from syntax_nmt.backbone.rnn_extension import RNNDecoderExtension, RNNDecoderStack
from syntax_nmt.errors import UserError
from syntax_nmt.methods.variational.decoder import VariationalDecoder
from syntax_nmt.methods.variational.options import POSTERIOR, SAMPLED_FROM, VariationalOptions
from syntax_nmt.methods.variational.recurrence import VariationalGRU
from syntax_nmt.option_checks import check_choice, refuse_changed


class LatentVariables(RNNDecoderExtension):
    """A conditional GRU with a latent variable at every step."""

    option = "--latent-dim"

    def __init__(self, options: VariationalOptions) -> None:
        self.dim, self.noise = int(options.latent_dim), float(options.latent_noise)
        self.has_posterior = str(options.latent_from) == POSTERIOR

    @classmethod
    def of(cls, options: VariationalOptions, stack: RNNDecoderStack) -> LatentVariables | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        if not options.latent_dim:
            refuse_changed(options, ["latent_from", "latent_noise"], "--latent-dim")
            return None
        check_choice("latent_from", options.latent_from, SAMPLED_FROM)
        if options.latent_dim < 0 or options.latent_noise < 0:
            raise UserError(
                f"--latent-dim {options.latent_dim}, --latent-noise {options.latent_noise}: give "
                "no negative numbers"
            )
        if not stack.conditional:
            raise UserError("--latent-dim stands in a conditional GRU: add --conditional-gru")
        return cls(options)

    def decoder(self, stack: RNNDecoderStack) -> VariationalDecoder:
        """The decoder."""
        return VariationalDecoder(
            stack.dictionary,
            stack.embed_tokens,
            self._recurrence(stack),
            stack.readout(stack.memory_dim),
            stack.memory_dim,
            **stack.arguments,
        )

    def _recurrence(self, stack: RNNDecoderStack) -> VariationalGRU:
        return VariationalGRU(
            ConditionalGRU(*stack.dims),
            stack.embed_dim,
            stack.memory_dim,
            self.dim,
            self.has_posterior,
            self.noise,
        )
