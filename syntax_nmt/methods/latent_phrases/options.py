"""The options of latent phrases and the synchronous constraint (Harada and Watanabe, 2021).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, option
from syntax_nmt.methods.latent_phrases.gates import HARDTANH, SIGMOID
from syntax_nmt.methods.latent_phrases.loss import ATTENTION, MEAN, MSE, RANK, SUM

_ON = Needs("latent_phrase_layers", such_as="2")


@dataclass
class LatentPhraseOptions(FairseqDataclass):
    """The layers whose attention stays within latent phrases."""

    latent_phrase_layers: int = option(
        0,
        "latent phrase structure induction (Harada and Watanabe, 2021): number of lowest layers "
        "of encoder and decoder that attend within the phrases of syntactic distances (default: "
        "0; latent_phrase_transformer: 2)",
    )
    syntactic_distance_lookback: int = option(
        5,
        "latent phrases: M of equation 4, number of earlier keys that a "
        "distance is computed from (default: 5)",
        _ON,
    )
    syntactic_distance_temperature: float = option(
        1.0,
        "latent phrases: τ of equation 5, how sharply a difference of distances opens "
        "or closes (default: 1.0)",
        _ON,
    )
    syntactic_distance_gate: ChoiceEnum([HARDTANH, SIGMOID]) = option(  # type: ignore[valid-type]
        HARDTANH,
        "latent phrases: α of equation 5, (hardtanh(τx)+1)/2, or sigmoid(τx) as in the "
        "authors' released code, with τ = 10 (default: hardtanh)",
        _ON,
    )


@dataclass
class SynchronousLossOptions(FairseqDataclass):
    """The weight and the form of the synchronous constraint."""

    sync_weight: float = option(
        0.01, "weight λ of the synchronous constraint, equation 11 (default: 0.01)"
    )
    sync_loss: ChoiceEnum([RANK, MSE, ATTENTION]) = option(  # type: ignore[valid-type]
        RANK,
        "the constraint: rank loss, equation 10, or squared error, equation 7, between "
        "syntactic distances; or synchronous attention (Deguchi et al., 2021), which needs no "
        "distances (default: rank)",
    )
    sync_layers: int = option(
        2,
        "number of cross-attention layers, counted from the top, in the constraint; the lowest of "
        "them goes with the lowest layer with distances; equal to --latent-phrase-layers "
        "(default: 2)",
    )
    sync_normalize: ChoiceEnum([SUM, MEAN]) = option(  # type: ignore[valid-type]
        SUM,
        "sum over the pairs of a sentence (sum, the paper), or their mean times the "
        "sentence's words (default: sum)",
    )
    sync_margin: float = option(1.0, "margin of the rank loss, 1 in equation 10 (default: 1.0)")
    sync_shift: bool = option(
        False,
        "compare the projected distance of position t, which predicts a word, with "
        "the distance of position t+1, which reads it (default: off, equal positions as in the "
        "paper)",
    )
    sync_encoder_layers: str = option(
        "",
        "--sync-loss attention: encoder layers whose self-attention is compared, such as "
        "0,1 or -2,-1 (default: the --sync-layers lowest)",
    )
    sync_decoder_layers: str = option(
        "",
        "--sync-loss attention: decoder layers whose self-attention is compared (default: "
        "the --sync-layers lowest)",
    )
    sync_cross_layers: str = option(
        "",
        "--sync-loss attention: decoder layers whose cross-attention is the "
        "projection (default: the --sync-layers top ones)",
    )
