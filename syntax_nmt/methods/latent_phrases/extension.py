"""The lowest layers of a Transformer stack that attend within latent phrases, or near positions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import (
    AttentionExtension,
    LayerModifier,
    Source,
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.structures import CONSTITUENTS
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention
from syntax_nmt.methods.latent_phrases.gates import OPENNESS
from syntax_nmt.methods.latent_phrases.options import LatentPhraseOptions
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

_OF_GATES = (
    "syntactic_distance_lookback",
    "syntactic_distance_temperature",
    "syntactic_distance_gate",
)


class _Gated(AttentionExtension):
    """Gated self-attention in the lowest layers.

    Args:
        gated: number of layers with gates.
        build: of the gated attention.
        window: neighbours that tokens of an encoder see on either side, and in how many lowest
            layers; 0 = all.
    """

    option = "--latent-phrase-layers"

    def __init__(self, gated: int, build: BuildAttention, window: tuple[int, int]) -> None:
        self.gated, self.build, self.window = gated, build, window
        self.structures = (CONSTITUENTS,) if gated else ()

    @classmethod
    def of(cls, options: LatentPhraseOptions, stack: TransformerStack) -> Any:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        gated, window = _gated_layers(options, stack), cls._window(options, stack)
        if not gated and not window[0]:
            return None
        build = partial(
            PhraseGatedAttention,
            lookback=options.syntactic_distance_lookback,
            temperature=options.syntactic_distance_temperature,
            alpha=str(options.syntactic_distance_gate),
        )
        return cls(gated, build, window)

    @classmethod
    def _window(cls, options: LatentPhraseOptions, stack: TransformerStack) -> tuple[int, int]:
        return 0, 0

    def attention(self, layer: int) -> BuildAttention | None:
        """The gated attention of the lowest layers."""
        return self.build if layer < self.gated else None

    @property
    def distance_layers(self) -> int:
        """The number of layers with gates."""
        return self.gated


class EncoderLatentPhrases(_Gated, TransformerEncoderExtension):
    """Latent phrases of the source, and local attention, which the paper compares them with."""

    @classmethod
    def _window(cls, options: LatentPhraseOptions, stack: TransformerStack) -> tuple[int, int]:
        window, layers = options.local_attention_window, options.local_attention_layers
        if window == 0:
            refuse_changed(options, ["local_attention_layers"], "--local-attention-window")
            return 0, 0
        if not 1 <= layers <= stack.layers:
            raise UserError(
                f"--local-attention-layers {layers}: the encoder has {stack.layers} layers; "
                f"give a number from 1 to {stack.layers}"
            )
        refuse_together(
            "--local-attention-window",
            stack.cfg,
            "encoder_layerdrop",
            "encoder_xformers_att_config",
        )
        return window, layers

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The window.

        Args:
            like: gives device and type.
        """
        window, layers = self.window
        if not window:
            return []
        bias = local_attention_bias(source.padding.size(1), window, like)
        return [LayerModifier(range(layers), AttentionModifier(bias))]


class DecoderLatentPhrases(_Gated, TransformerDecoderExtension):
    """Latent phrases of the target."""


def _gated_layers(options: LatentPhraseOptions, stack: TransformerStack) -> int:
    layers = options.latent_phrase_layers
    if not 0 <= layers <= stack.layers:
        raise UserError(
            f"--latent-phrase-layers {layers}: the {stack.name} has {stack.layers} layers; "
            f"give a number from 0 to {stack.layers}"
        )
    if layers == 0:
        refuse_changed(options, _OF_GATES, "--latent-phrase-layers, such as 2")
        return 0
    check_choice("syntactic_distance_gate", options.syntactic_distance_gate, OPENNESS)
    if not options.syntactic_distance_temperature > 0:  # NaN included
        raise UserError(
            f"--syntactic-distance-temperature {options.syntactic_distance_temperature}: "
            "give more than 0; the paper's is 1"
        )
    refuse_together(
        "--latent-phrase-layers", stack.cfg,
        "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
        "encoder_xformers_att_config", "decoder_xformers_att_config",
    )  # fmt: skip
    return layers


def local_attention_bias(length: int, window: int, like: Tensor) -> Tensor:
    """The bias that hides every |i − j| > window, S×S: local attention (Cui et al., 2019).

    Args:
        length: S.
        window: number of visible neighbours on either side.
        like: gives device and type.
    """
    hidden = torch.full((length, length), float("-inf"), device=like.device, dtype=like.dtype)
    return hidden.triu(window + 1) + hidden.tril(-window - 1)
