"""The lowest layers of a Transformer encoder, whose heads see near positions alone."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.transformer_extension import (
    LayerModifier,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.methods.local_attention.options import LocalAttentionOptions
from syntax_nmt.option_checks import check_from_zero, check_lowest_layers, refuse_together


class LocalAttention(TransformerEncoderExtension):
    """A window around each position."""

    option = "--local-attention-window"

    def __init__(self, options: LocalAttentionOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        check_from_zero(options, ["local_attention_window"])
        layers = options.local_attention_layers
        check_lowest_layers("--local-attention-layers", layers, stack.layers, stack.name)
        refuse_together(self.option, stack.cfg, "encoder_layerdrop", "encoder_xformers_att_config")

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The window.

        Args:
            like: gives device and type.
        """
        options: LocalAttentionOptions = self.options
        bias = local_attention_bias(source.padding.size(1), options.local_attention_window, like)
        return [LayerModifier(range(options.local_attention_layers), AttentionModifier(bias))]


def local_attention_bias(length: int, window: int, like: Tensor) -> Tensor:
    """The bias that hides every |i − j| > window, S×S.

    Args:
        length: S.
        window: number of visible neighbours on either side.
        like: gives device and type.
    """
    hidden = torch.full((length, length), float("-inf"), device=like.device, dtype=like.dtype)
    return hidden.triu(window + 1) + hidden.tril(-window - 1)
