"""`--criterion chunk_cross_entropy`: translation and the chunks of the target.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig

from syntax_nmt.arguments import option
from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.methods.bi_scale.loss import ChunkObjective


@dataclass
class ChunkCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two losses."""

    boundary_weight: float = option(1.0, "weight of the loss of chunk boundaries (default: 1)")
    chunk_tag_weight: float = option(1.0, "weight of the loss of chunk tags (default: 1)")


@register_criterion("chunk_cross_entropy", dataclass=ChunkCrossEntropyConfig)
class ChunkCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + w_b · boundaries + w_l · tags` (Zhou et al., 2017); see :class:`ChunkObjective`."""

    objective_types = (ChunkObjective,)
