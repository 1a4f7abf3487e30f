"""`--criterion synchronous_cross_entropy`: translation and the synchronous constraint.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig
from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import option
from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.methods.latent_phrases.loss import (
    ATTENTION,
    MEAN,
    MSE,
    RANK,
    SUM,
    SynchronousObjective,
)


@dataclass
class SynchronousCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and those of the constraint."""

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
        "number of cross-attention layers, counted from the top, that are tied, the "
        "lowest of them to the lowest layer with distances; as many as "
        "--latent-phrase-layers (default: 2)",
    )
    sync_normalize: ChoiceEnum([SUM, MEAN]) = option(  # type: ignore[valid-type]
        SUM,
        "sum over the pairs of a sentence (sum, the paper), or their mean times the "
        "sentence's words (default: sum)",
    )
    sync_margin: float = option(1.0, "margin of the rank loss, 1 in equation 10 (default: 1.0)")
    sync_shift: bool = option(
        False,
        "tie the projected distance of position t, which predicts a word, to the "
        "distance of position t+1, which reads it (default: off, equal positions as in the "
        "paper)",
    )
    sync_encoder_layers: str = option(
        "",
        "--sync-loss attention: encoder layers whose self-attention is tied, such as "
        "0,1 or -2,-1 (default: the --sync-layers lowest)",
    )
    sync_decoder_layers: str = option(
        "",
        "--sync-loss attention: decoder layers whose self-attention is tied (default: "
        "the --sync-layers lowest)",
    )
    sync_cross_layers: str = option(
        "",
        "--sync-loss attention: decoder layers whose cross-attention projects "
        "(default: the --sync-layers top ones)",
    )


@register_criterion("synchronous_cross_entropy", dataclass=SynchronousCrossEntropyConfig)
class SynchronousCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + λ·L_sync` (Harada and Watanabe, 2021); see :class:`SynchronousObjective`."""

    objective_types = (SynchronousObjective,)
