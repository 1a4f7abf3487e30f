"""The lowest layers of a Transformer stack that attend within latent phrases, or near positions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.structures import CONSTITUENTS
from syntax_nmt.backbone.transformer_extension import (
    AttentionExtension,
    LayerModifier,
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

    def __init__(self, options: LatentPhraseOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        check_from_zero(options, ["local_attention_window", "syntactic_distance_lookback"])
        self.gated = options.latent_phrase_layers
        check_lowest_layers(self.option, self.gated, stack.layers, stack.name, least=0)
        if not self.gated:  # only a window
            return
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
        self.structures, self.distance_layers = (CONSTITUENTS,), self.gated

    def attention(self, layer: int) -> BuildAttention | None:
        """The gated attention of the lowest layers."""
        if layer >= self.gated:
            return None
        return partial(
            PhraseGatedAttention,
            lookback=self.options.syntactic_distance_lookback,
            temperature=self.options.syntactic_distance_temperature,
            alpha=self.options.syntactic_distance_gate,
        )


class EncoderLatentPhrases(_Gated, TransformerEncoderExtension):
    """Latent phrases of the source, and local attention, which the paper compares them with."""

    def __init__(self, options: LatentPhraseOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        if not options.local_attention_window:
            return
        check_lowest_layers(
            "--local-attention-layers", options.local_attention_layers, stack.layers, stack.name
        )
        refuse_together(
            "--local-attention-window",
            stack.cfg,
            "encoder_layerdrop",
            "encoder_xformers_att_config",
        )

    @classmethod
    def is_on(cls, options: LatentPhraseOptions, stack: TransformerStack) -> bool:
        """Whether there are layers with gates, or a window."""
        return bool(options.latent_phrase_layers or options.local_attention_window)

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The window.

        Args:
            like: gives device and type.
        """
        window, layers = self.options.local_attention_window, self.options.local_attention_layers
        if not window:
            return []
        bias = local_attention_bias(source.padding.size(1), window, like)
        return [LayerModifier(range(layers), AttentionModifier(bias))]


class DecoderLatentPhrases(_Gated, TransformerDecoderExtension):
    """Latent phrases of the target."""


def local_attention_bias(length: int, window: int, like: Tensor) -> Tensor:
    """The bias that hides every |i − j| > window, S×S: local attention (Cui et al., 2019).

    Args:
        length: S.
        window: number of visible neighbours on either side.
        like: gives device and type.
    """
    hidden = torch.full((length, length), float("-inf"), device=like.device, dtype=like.dtype)
    return hidden.triu(window + 1) + hidden.tril(-window - 1)
