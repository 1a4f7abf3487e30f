"""The options of position biases, and the biases built from them.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import option
from syntax_nmt.errors import UserError
from syntax_nmt.methods.position_bias.bias import (
    ALIBI,
    DECAY,
    T5,
    PositionBias,
    build_position_bias,
)
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

# The same number as in the presets of latent phrases, whose control it is.
_DECAY_LAYERS = 2


@dataclass
class PositionBiasOptions(FairseqDataclass):
    """Off by default."""

    position_bias: Optional[ChoiceEnum([DECAY, ALIBI, T5])] = option(  # type: ignore[valid-type]
        None,
        "a bias of self-attention that depends only on positions, a control for latent phrases "
        "and a baseline for all methods: decay, the gates of equal syntactic distances, "
        "−(|i−j|−1) ln 2; alibi, −m_h |i−j| (Press, Smith and Lewis, 2022); t5, a trained number "
        "for each head and bucket of distances (Raffel et al., 2020). alibi and t5 were published "
        "without position embeddings (--no-token-positional-embeddings) (default: none)",
    )
    position_bias_layers: Optional[int] = option(
        None,
        "number of lowest layers of encoder and decoder with --position-bias (default: 2 "
        "for decay, as for latent phrases; all for alibi and t5)",
    )


def position_bias_layers(cfg: TransformerConfig, options: Any, half: str) -> int:
    """The number of lowest layers with a position bias.

    Args:
        options: of the model, :class:`PositionBiasOptions` among them.
        half: `encoder` or `decoder`.

    Raises:
        UserError: options that contradict each other.
    """
    kind, layers, there = options.position_bias, options.position_bias_layers, getattr(cfg, half)
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
            f"--position-bias-layers {layers}: the {half} has {there.layers} layers; "
            f"give a number from 1 to {there.layers}"
        )
    return layers


def position_bias(cfg: TransformerConfig, options: Any, half: str) -> Optional[PositionBias]:
    """The bias of the self-attention of one half; None = it has none.

    Args:
        options: of the model, :class:`PositionBiasOptions` among them.
        half: `encoder` or `decoder`.
    """
    if options.position_bias is None:
        return None
    heads = getattr(cfg, half).attention_heads
    return build_position_bias(str(options.position_bias), heads, causal=half == "decoder")
