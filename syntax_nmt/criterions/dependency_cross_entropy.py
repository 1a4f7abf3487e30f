"""`--criterion dependency_cross_entropy`: translation and the source dependency tree.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass, field

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.tasks import FairseqTask

from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.criterions.dependency import DependencyObjective


@dataclass
class DependencyCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options of the label-smoothed criterion and the weights of the two heads."""

    child_weight: float = field(
        default=0.4,
        metadata={"help": "weight α of the child head's loss; 0 gives the paper's +PSH row"},
    )
    parent_weight: float = field(
        default=0.4,
        metadata={"help": "weight β of the parent head's loss; 0 gives the paper's +CSH row"},
    )


@register_criterion("dependency_cross_entropy", dataclass=DependencyCrossEntropyConfig)
class DependencyCrossEntropyCriterion(AuxiliaryCriterion):
    """`CE + α·Lc + β·Lp` (Wang et al., 2019); see :class:`DependencyObjective`.

    Args:
        task: the task.
        sentence_avg: divide by the number of sentences instead of target tokens.
        label_smoothing: ε.
        ignore_prefix_size: leave out so many tokens at the start of each target.
        report_accuracy: log the share of target tokens predicted right.
        child_weight: α.
        parent_weight: β.
    """

    objective_types = (DependencyObjective,)

    def __init__(
        self,
        task: FairseqTask,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int,
        report_accuracy: bool,
        child_weight: float,
        parent_weight: float,
    ) -> None:
        objectives = [DependencyObjective(child_weight, parent_weight)]
        super().__init__(
            task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy, objectives
        )
