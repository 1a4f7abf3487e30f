"""The lowest layers of a Transformer stack, which attend within latent phrases."""

from __future__ import annotations

import math
from functools import partial

from syntax_nmt.backbone.structures import CONSTITUENTS
from syntax_nmt.backbone.transformer_extension import (
    AttentionExtension,
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention
from syntax_nmt.methods.latent_phrases.options import LatentPhraseOptions
from syntax_nmt.option_checks import check_from_zero, check_lowest_layers, refuse_together


class _Gated(AttentionExtension):
    """Gated self-attention in the lowest layers."""

    option = "--latent-phrase-layers"
    structures = (CONSTITUENTS,)

    def __init__(self, options: LatentPhraseOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        check_from_zero(options, ["syntactic_distance_lookback"])
        self.distance_layers = options.latent_phrase_layers
        check_lowest_layers(self.option, self.distance_layers, stack.layers, stack.name, least=0)
        if not 0 < options.syntactic_distance_temperature < math.inf:  # NaN included
            raise UserError(
                f"--syntactic-distance-temperature {options.syntactic_distance_temperature}: "
                "give a number above 0; the paper's is 1"
            )
        refuse_together(
            "--latent-phrase-layers", stack.cfg,
            "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
            "encoder_xformers_att_config", "decoder_xformers_att_config",
        )  # fmt: skip

    def attention(self, layer: int) -> BuildAttention | None:
        """The gated attention of the lowest layers."""
        if layer >= self.distance_layers:
            return None
        return partial(
            PhraseGatedAttention,
            lookback=self.options.syntactic_distance_lookback,
            temperature=self.options.syntactic_distance_temperature,
            alpha=self.options.syntactic_distance_gate,
        )


class EncoderLatentPhrases(_Gated, TransformerEncoderExtension):
    """Latent phrases of the source."""


class DecoderLatentPhrases(_Gated, TransformerDecoderExtension):
    """Latent phrases of the target."""
