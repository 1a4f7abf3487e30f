"""The options of the Transformer family beyond those of fairseq's own `transformer`.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import option
from syntax_nmt.methods.latent_phrases.gates import HARDTANH, SIGMOID
from syntax_nmt.methods.parent_scaled.options import ParentScaledOptions
from syntax_nmt.methods.position_bias.bias import ALIBI, DECAY, T5

NGRAM, PARSED = "ngram", "parsed"


@dataclass
class SyntaxTransformerOptions(ParentScaledOptions):
    """Every feature is off by default; with all of them off the model is the stock Transformer."""

    supervised_layer: Optional[int] = option(
        None,
        "supervised attention heads (Wang et al., 2019): the encoder layer whose first "
        "two self-attention heads learn the source dependency tree, child head and parent "
        "head; 0 is the lowest, -1 the top layer, the paper's choice; gates or a window that the "
        "layer has as well are left out of what they learn (default: no layer; "
        "dependency_transformer: -1)",
    )
    phrase_segmentation: Optional[ChoiceEnum([NGRAM, PARSED])] = option(  # type: ignore[valid-type]
        None,
        "phrase representation (Xu et al., 2020): every layer attends to the source's "
        "phrases, too; they are pieces of max(min(8, length/6), 3) tokens (ngram) or come from "
        "constituency trees by the paper's Algorithm 1 (parsed, with --load-phrases) "
        "(default: no phrases; phrase_transformer: ngram)",
    )
    phrase_summary: ChoiceEnum(["max", "mean"]) = option(  # type: ignore[valid-type]
        "max",
        "phrase representation: F_glance of equation 2, the element-wise maximum or "
        "mean of a phrase's tokens; without --phrase-attention it is the phrase's vector "
        "(default: max)",
    )
    phrase_attention: bool = option(
        False,
        "phrase representation: weigh a phrase's tokens by comparing each with the "
        "summary, equations 3 to 5 (the paper's +Attn; default: off; phrase_transformer: on)",
    )
    transparent_attention: bool = option(
        False,
        "phrase representation: each decoder layer attends to a trained mixture of all "
        "encoder layers' phrases, w of equation 6 (the paper's +TA; default: off, all see the "
        "top layer's; phrase_transformer: on)",
    )
    phrase_hidden_dim: Optional[int] = option(
        None,
        "phrase representation: hidden width of --phrase-attention, rows of W1 "
        "(default: the encoder's width)",
    )
    phrase_combine_dim: Optional[int] = option(
        None,
        "phrase representation: hidden width of the attentive combination, rows of W3 "
        "(default: the FFN width of the side; phrase_transformer: three times "
        "--encoder-embed-dim, which fits the paper's Table 2)",
    )
    phrase_eos_apart: bool = option(
        False,
        "phrase representation: with --phrase-segmentation ngram, too, EOS is a phrase "
        "of its own: a control for parsed phrases (default: off, EOS ends the last phrase)",
    )
    phrase_literal_sigmoid: bool = option(
        False,
        "phrase representation: count the sigmoid of equation 8 from 0, as the paper "
        "prints it, and not from its midpoint: the same functions, but another training, "
        "under --activation-dropout also another function (default: off)",
    )
    phrase_residual_attention: bool = option(
        False,
        "phrase representation: the residual around the attentive combination adds the "
        "attention's output, too, as the authors' released code does (default: off, x alone)",
    )
    transparent_token_attention: bool = option(
        False,
        "phrase representation: --transparent-attention mixes the encoder layers' "
        "tokens for the source cross-attention, too, with weights of their own, as the "
        "authors' released code does (default: off, phrases alone)",
    )
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
    local_attention_window: int = option(
        0,
        "local attention, which the paper compares latent phrases with: number of "
        "neighbours on either side that tokens see in the lowest encoder layers (the paper: "
        "2; default: 0, no window)",
    )
    local_attention_layers: int = option(
        2,
        "number of encoder layers that --local-attention-window is for, counted from the "
        "lowest (default: 2)",
    )
    position_bias: Optional[ChoiceEnum([DECAY, ALIBI, T5])] = option(  # type: ignore[valid-type]
        None,
        "a bias of self-attention that knows positions alone, a control for latent phrases and a "
        "baseline for all methods: decay, the gates of equal syntactic distances, −(|i−j|−1) ln 2; "
        "alibi, −m_h |i−j| (Press, Smith and Lewis, 2022); t5, a trained number for each head and "
        "bucket of distances (Raffel et al., 2020). alibi and t5 were published without position "
        "embeddings (--no-token-positional-embeddings) (default: none)",
    )
    position_bias_layers: Optional[int] = option(
        None,
        "number of layers of the encoder and of the decoder, the lowest, that --position-bias is "
        "for (default: 2 for decay, as of latent phrases; all for alibi and t5)",
    )
