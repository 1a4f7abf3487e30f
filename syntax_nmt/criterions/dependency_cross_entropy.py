"""`--criterion dependency_cross_entropy`: translation and the source dependency tree.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig

from syntax_nmt.arguments import option
from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective


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
