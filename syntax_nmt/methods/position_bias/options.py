"""The options of position biases, checked, as the numbers that modules take."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig

from syntax_nmt.errors import UserError
from syntax_nmt.methods.position_bias.bias import (
    ALIBI,
    DECAY,
    T5,
    PositionBias,
    build_position_bias,
)
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

# As many as the presets of latent phrases, whose control it is.
_DECAY_LAYERS = 2


def position_bias_layers(
    cfg: TransformerConfig, options: SyntaxTransformerOptions, side: str
) -> int:
    """How many layers, the lowest, have a position bias.

    Args:
        side: `encoder` or `decoder`.

    Raises:
        UserError: options that contradict each other.
    """
    kind, layers, there = options.position_bias, options.position_bias_layers, getattr(cfg, side)
    if kind is None:
        refuse_changed(options, ["position_bias_layers"], "--position-bias, such as decay")
        return 0
    check_choice("position_bias", kind, (DECAY, ALIBI, T5))
    refuse_together(
        "--position-bias", cfg,
        "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
        "encoder_xformers_att_config", "decoder_xformers_att_config",
    )  # fmt: skip
    if layers is None:
        return min(_DECAY_LAYERS, there.layers) if str(kind) == DECAY else there.layers
    if not 1 <= layers <= there.layers:
        raise UserError(
            f"--position-bias-layers {layers}: the {side} has {there.layers} layers; "
            f"give a number from 1 to {there.layers}"
        )
    return layers


def position_bias(
    cfg: TransformerConfig, options: SyntaxTransformerOptions, side: str
) -> PositionBias | None:
    """The bias of the self-attention of one side; None = it has none.

    Args:
        side: `encoder` or `decoder`.
    """
    if options.position_bias is None:
        return None
    heads = getattr(cfg, side).attention_heads
    return build_position_bias(str(options.position_bias), heads, causal=side == "decoder")
