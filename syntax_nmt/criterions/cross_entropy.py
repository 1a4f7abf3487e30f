"""The criterions registered with fairseq: one for the losses of each method, one for all losses.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig

from syntax_nmt.arguments import option
from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.bi_scale.options import ChunkLossOptions
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.dependency_heads.options import DependencyLossOptions
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective
from syntax_nmt.methods.latent_phrases.options import SynchronousLossOptions


@dataclass
class DependencyCrossEntropyConfig(DependencyLossOptions, LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two heads."""


@register_criterion("dependency_cross_entropy", dataclass=DependencyCrossEntropyConfig)
class DependencyCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + α·Lc + β·Lp` (Wang et al., 2019); see :class:`DependencyObjective`."""

    objective_types = (DependencyObjective,)


@dataclass
class SynchronousCrossEntropyConfig(
    SynchronousLossOptions, LabelSmoothedCrossEntropyCriterionConfig
):
    """fairseq's options of the label-smoothed criterion and those of the constraint."""


@register_criterion("synchronous_cross_entropy", dataclass=SynchronousCrossEntropyConfig)
class SynchronousCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + λ·L_sync` (Harada and Watanabe, 2021); see :class:`SynchronousObjective`."""

    objective_types = (SynchronousObjective,)


@dataclass
class ChunkCrossEntropyConfig(ChunkLossOptions, LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two losses."""


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
