"""Latent variables in an RNN decoder."""

from __future__ import annotations

from syntax_nmt.backbone.attentive_recurrence import ConditionalGRU
from syntax_nmt.backbone.rnn_extension import RNNDecoderExtension, RNNDecoderStack
from syntax_nmt.errors import UserError
from syntax_nmt.methods.variational.decoder import VariationalDecoder
from syntax_nmt.methods.variational.options import POSTERIOR, VariationalOptions
from syntax_nmt.methods.variational.recurrence import VariationalGRU
from syntax_nmt.option_checks import check_from_zero


class LatentVariables(RNNDecoderExtension):
    """A conditional GRU with a latent variable at every step."""

    option = "--latent-dim"

    def __init__(self, options: VariationalOptions, stack: RNNDecoderStack) -> None:
        super().__init__(options, stack)
        check_from_zero(options, ["latent_dim", "latent_noise"])
        if not stack.conditional:
            raise UserError("--latent-dim stands in a conditional GRU: add --conditional-gru")

    def decoder(self) -> VariationalDecoder:
        """The decoder."""
        options, stack = self.options, self.stack
        recurrence = VariationalGRU(
            ConditionalGRU(*stack.dims),
            stack.embed_dim,
            stack.memory_dim,
            options.latent_dim,
            options.latent_from == POSTERIOR,
            options.latent_noise,
        )
        return VariationalDecoder(
            stack.dictionary,
            stack.embed_tokens,
            recurrence,
            stack.readout(stack.memory_dim),
            stack.memory_dim,
            **stack.arguments,
        )
