"""The options of latent phrases (Harada and Watanabe, 2021), and the attention that they mean.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from functools import partial

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models.transformer import TransformerConfig

from syntax_nmt.arguments import encoder_option, option
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.errors import UserError
from syntax_nmt.methods.latent_phrases.attention import PhraseGatedAttention
from syntax_nmt.methods.latent_phrases.gates import HARDTANH, OPENNESS, SIGMOID
from syntax_nmt.option_checks import check_choice, refuse_changed, refuse_together

_OF_GATES = (
    "syntactic_distance_lookback",
    "syntactic_distance_temperature",
    "syntactic_distance_gate",
)


@dataclass
class LatentPhraseOptions(FairseqDataclass):
    """In how many layers, and how, attention stays within latent phrases or near positions."""

    latent_phrase_layers: int = option(
        0,
        "latent phrase structure induction (Harada and Watanabe, 2021): number of layers "
        "of the encoder and of the decoder, the lowest, that attend within the phrases "
        "that syntactic distances make (default: 0; latent_phrase_transformer: 2)",
    )
    syntactic_distance_lookback: int = option(
        5,
        "latent phrases: M of equation 4, the keys before its own that a distance is "
        "computed from (default: 5)",
    )
    syntactic_distance_temperature: float = option(
        1.0,
        "latent phrases: τ of equation 5, how sharply a difference of distances opens "
        "or closes (default: 1.0)",
    )
    syntactic_distance_gate: ChoiceEnum([HARDTANH, SIGMOID]) = option(  # type: ignore[valid-type]
        HARDTANH,
        "latent phrases: α of equation 5, (hardtanh(τx)+1)/2, or sigmoid(τx) as in the "
        "authors' released code, with τ = 10 (default: hardtanh)",
    )
    local_attention_window: int = encoder_option(
        0,
        "local attention, which the paper compares latent phrases with: number of "
        "neighbours on either side that tokens see in the lowest encoder layers (the paper: "
        "2; default: 0, no window)",
    )
    local_attention_layers: int = encoder_option(
        2,
        "number of encoder layers that --local-attention-window is for, counted from the "
        "lowest (default: 2)",
    )


def self_attentions(
    cfg: TransformerConfig, options: LatentPhraseOptions, half: str
) -> list[BuildAttention]:
    """What builds the self-attention of each layer, the lowest first: with gates, or the plain one.

    Args:
        cfg: fairseq's options of the Transformer.
        half: `encoder` or `decoder`.

    Raises:
        UserError: options that contradict each other.
    """
    layers = options.latent_phrase_layers
    there = getattr(cfg, half).layers
    if not 0 <= layers <= there:
        raise UserError(
            f"--latent-phrase-layers {layers}: the {half} has {there} layers; "
            f"give a number from 0 to {there}"
        )
    if layers == 0:
        refuse_changed(options, _OF_GATES, "--latent-phrase-layers, such as 2")
        return [FusedMultiheadAttention] * there
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
    gated = partial(
        PhraseGatedAttention,
        lookback=options.syntactic_distance_lookback,
        temperature=options.syntactic_distance_temperature,
        alpha=str(options.syntactic_distance_gate),
    )
    return [gated] * layers + [FusedMultiheadAttention] * (there - layers)


def local_window(cfg: TransformerConfig, options: LatentPhraseOptions) -> int:
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
