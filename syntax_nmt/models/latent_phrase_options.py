"""The options of latent phrases and local attention, checked, as the numbers that modules take."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig

from syntax_nmt.errors import UserError
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.transformer_layers import GateSettings
from syntax_nmt.modules.openness import OPENNESS


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
        return None
    gate = str(options.syntactic_distance_gate)
    if gate not in OPENNESS:  # which a YAML of fairseq-hydra-train may say
        raise UserError(f"--syntactic-distance-gate {gate}: choose {' or '.join(OPENNESS)}")
    if options.syntactic_distance_lookback < 0:
        raise UserError(
            f"--syntactic-distance-lookback {options.syntactic_distance_lookback}: "
            "give 0 or more; the paper's is 5"
        )
    if options.syntactic_distance_temperature <= 0:
        raise UserError(
            f"--syntactic-distance-temperature {options.syntactic_distance_temperature}: "
            "give more than 0; the paper's is 1"
        )
    _refuse(
        "--latent-phrase-layers",
        {
            "--encoder-layerdrop": cfg.encoder.layerdrop > 0,
            "--decoder-layerdrop": cfg.decoder.layerdrop > 0,
            "--cross-self-attention": cfg.cross_self_attention,
            "--base-layers": bool(cfg.base_layers),
            "--encoder-xformers-att-config": bool(cfg.encoder.xformers_att_config),
            "--decoder-xformers-att-config": bool(cfg.decoder.xformers_att_config),
        },
    )
    return GateSettings(
        options.syntactic_distance_lookback, options.syntactic_distance_temperature, gate
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
        return 0
    if not 1 <= layers <= cfg.encoder.layers:
        raise UserError(
            f"--local-attention-layers {layers}: the encoder has {cfg.encoder.layers} layers; "
            f"give a number from 1 to {cfg.encoder.layers}"
        )
    _refuse(
        "--local-attention-window",
        {
            "--encoder-layerdrop": cfg.encoder.layerdrop > 0,
            "--encoder-xformers-att-config": bool(cfg.encoder.xformers_att_config),
        },
    )
    return window


def _refuse(option: str, others: dict[str, bool]) -> None:
    for other, used in others.items():
        if used:
            raise UserError(f"{option} cannot be combined with {other}")
