"""The position bias of a Transformer stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from syntax_nmt.arguments import DECODER
from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import (
    LayerModifier,
    Source,
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.errors import UserError
from syntax_nmt.methods.position_bias.bias import (
    ALIBI,
    DECAY,
    T5,
    PositionBias,
    build_position_bias,
)
from syntax_nmt.methods.position_bias.options import PositionBiasOptions
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

# The same number as in the presets of latent phrases, whose control it is.
_DECAY_LAYERS = 2


class _Biased:
    """A bias in the lowest layers of one stack.

    Args:
        layers: how many have it.
    """

    option = "--position-bias"

    def __init__(self, kind: str, layers: int, stack: TransformerStack) -> None:
        self.layers = range(layers)
        self.bias: PositionBias = build_position_bias(kind, stack.heads, stack.name == DECODER)

    @classmethod
    def of(cls, options: PositionBiasOptions, stack: TransformerStack) -> Any:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        kind, layers = options.position_bias, options.position_bias_layers
        if kind is None:
            refuse_changed(options, ["position_bias_layers"], "--position-bias, such as decay")
            return None
        check_choice("position_bias", kind, (DECAY, ALIBI, T5))
        refuse_together(
            "--position-bias", stack.cfg,
            "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
            "encoder_xformers_att_config", "decoder_xformers_att_config",
        )  # fmt: skip
        if layers is None:
            layers = min(_DECAY_LAYERS, stack.layers) if str(kind) == DECAY else stack.layers
        elif not 1 <= layers <= stack.layers:
            raise UserError(
                f"--position-bias-layers {layers}: the {stack.name} has {stack.layers} layers; "
                f"give a number from 1 to {stack.layers}"
            )
        return cls(str(kind), layers, stack)

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The bias; that of T5 has parameters."""
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
