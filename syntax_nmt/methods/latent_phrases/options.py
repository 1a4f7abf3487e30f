"""The options of latent phrases and local attention, checked, as the numbers that modules take."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig

from syntax_nmt.backbone.transformer_layers import GateSettings
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.gates import OPENNESS
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

_OF_GATES = (
    "syntactic_distance_lookback",
    "syntactic_distance_temperature",
    "syntactic_distance_gate",
)


def gate_settings(
    cfg: TransformerConfig, options: SyntaxTransformerOptions, side: str
) -> GateSettings | None:
    """The settings of the gates; None = no layer has any.

    Args:
        cfg: fairseq's options of the Transformer.
        side: `encoder` or `decoder`.

    Raises:
        UserError: options that contradict each other.
    """
    layers = options.latent_phrase_layers
    there = getattr(cfg, side).layers
    if not 0 <= layers <= there:
        raise UserError(
            f"--latent-phrase-layers {layers}: the {side} has {there} layers; "
            f"give a number from 0 to {there}"
        )
    if layers == 0:
        refuse_changed(options, _OF_GATES, "--latent-phrase-layers, such as 2")
        return None
    check_choice("syntactic_distance_gate", options.syntactic_distance_gate, OPENNESS)
    if options.syntactic_distance_lookback < 0:
        raise UserError(
            f"--syntactic-distance-lookback {options.syntactic_distance_lookback}: "
            "give 0 or more; the paper's is 5"
        )
    if not options.syntactic_distance_temperature > 0:  # NaN included
        raise UserError(
            f"--syntactic-distance-temperature {options.syntactic_distance_temperature}: "
            "give more than 0; the paper's is 1"
        )
    refuse_together(
        "--latent-phrase-layers", cfg,
        "encoder_layerdrop", "decoder_layerdrop", "cross_self_attention", "base_layers",
        "encoder_xformers_att_config", "decoder_xformers_att_config",
    )  # fmt: skip
    return GateSettings(
        options.syntactic_distance_lookback,
        options.syntactic_distance_temperature,
        str(options.syntactic_distance_gate),
    )


def local_window(cfg: TransformerConfig, options: SyntaxTransformerOptions) -> int:
    """Neighbours that tokens see on either side; 0 = all.

    Args:
        cfg: fairseq's options of the Transformer.

    Raises:
        UserError: options that contradict each other.
    """
    window, layers = options.local_attention_window, options.local_attention_layers
    if window < 0:
        raise UserError(f"--local-attention-window {window}: give 0 (none) or more")
    if window == 0:
        refuse_changed(options, ["local_attention_layers"], "--local-attention-window")
        return 0
    if not 1 <= layers <= cfg.encoder.layers:
        raise UserError(
            f"--local-attention-layers {layers}: the encoder has {cfg.encoder.layers} layers; "
            f"give a number from 1 to {cfg.encoder.layers}"
        )
    refuse_together(
        "--local-attention-window", cfg, "encoder_layerdrop", "encoder_xformers_att_config"
    )
    return window
