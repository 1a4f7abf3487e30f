"""The position bias of a Transformer stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.arguments import DECODER
from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Extension, Source
from syntax_nmt.backbone.transformer_extension import (
    LayerModifier,
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.methods.position_bias.bias import DECAY, PositionBias, build_position_bias
from syntax_nmt.methods.position_bias.options import PositionBiasOptions
from syntax_nmt.option_checks import lowest_layers, refuse_together

# As many layers have gates in Harada and Watanabe (2021), whose control it is.
_DECAY_LAYERS = 2


class _Biased(Extension):
    """A bias in the lowest layers of one stack."""

    option = "--position-bias"

    def __init__(self, options: PositionBiasOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        refuse_together(
            "--position-bias", stack.cfg,
            "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
            "encoder_xformers_att_config", "decoder_xformers_att_config",
        )  # fmt: skip
        kind = self.options.position_bias
        usual = _DECAY_LAYERS if kind == DECAY else stack.layers
        given = options.position_bias_layers
        self.layers = lowest_layers(
            "--position-bias-layers", given, usual, stack.layers, stack.name
        )
        self.bias: PositionBias = build_position_bias(kind, stack.heads, stack.name == DECODER)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The bias; that of T5 has a table."""
        return {"position_bias": self.bias}

    def _change(self, length: int, queries: int, like: Tensor) -> list[LayerModifier]:
        return [LayerModifier(self.layers, AttentionModifier(self.bias(length, queries, like)))]


class EncoderPositionBias(_Biased, TransformerEncoderExtension):
    """Keys before and after the query have biases."""

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The bias, the same for all sentences.

        Args:
            like: gives device and type.
        """
        length = source.padding.size(1)
        return self._change(length, length, like)


class DecoderPositionBias(_Biased, TransformerDecoderExtension):
    """The bias also closes the future."""

    def changes(self, length: int, queries: int, like: Tensor) -> Iterable[LayerModifier]:
        """The bias, the same for all sentences.

        Args:
            length: T.
            queries: the last positions, which are computed.
            like: gives device and type.
        """
        return self._change(length, queries, like)
