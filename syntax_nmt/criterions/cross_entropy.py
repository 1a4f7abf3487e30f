"""The criterions that are registered with fairseq: one for the losses of each method, one for all.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig
from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import option
from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.latent_phrases.loss import (
    ATTENTION,
    MEAN,
    MSE,
    RANK,
    SUM,
    SynchronousObjective,
)


@dataclass
class DependencyCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two heads."""

    child_weight: float = option(
        0.4, "weight α of the child head's loss; 0 gives the paper's +PSH row"
    )
    parent_weight: float = option(
        0.4, "weight β of the parent head's loss; 0 gives the paper's +CSH row"
    )


@register_criterion("dependency_cross_entropy", dataclass=DependencyCrossEntropyConfig)
class DependencyCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + α·Lc + β·Lp` (Wang et al., 2019); see :class:`DependencyObjective`."""

    objective_types = (DependencyObjective,)


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


@dataclass
class ChunkCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two losses."""

    boundary_weight: float = option(1.0, "weight of the loss of chunk boundaries (default: 1)")
    chunk_tag_weight: float = option(1.0, "weight of the loss of chunk tags (default: 1)")


@register_criterion("chunk_cross_entropy", dataclass=ChunkCrossEntropyConfig)
class ChunkCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + w_b · boundaries + w_l · tags` (Zhou et al., 2017); see :class:`ChunkObjective`."""

    objective_types = (ChunkObjective,)


@dataclass
class SyntaxCrossEntropyConfig(
    DependencyCrossEntropyConfig, SynchronousCrossEntropyConfig, ChunkCrossEntropyConfig
):
    """The options of all criterions; a loss whose weight is 0, the default, is off."""

    child_weight: float = option(0.0, "weight α of the child head's loss (default: 0)")
    parent_weight: float = option(0.0, "weight β of the parent head's loss (default: 0)")
    sync_weight: float = option(0.0, "weight λ of the synchronous constraint (default: 0)")
    boundary_weight: float = option(0.0, "weight of the loss of chunk boundaries (default: 0)")
    chunk_tag_weight: float = option(0.0, "weight of the loss of chunk tags (default: 0)")


@register_criterion("syntax_cross_entropy", dataclass=SyntaxCrossEntropyConfig)
class SyntaxCrossEntropyCriterion(AuxiliaryCriterion):
    """The translation loss plus every auxiliary loss whose weight is not 0."""

    objective_types = (DependencyObjective, SynchronousObjective, ChunkObjective)


def ways_to_learn(kind: AnnotationKind) -> str:
    """The options that switch on a loss of some annotation, for messages."""
    found = (x for x in SyntaxCrossEntropyCriterion.objective_types if kind in x.reads_annotation)
    return "; or ".join(objective.options for objective in found)
