"""The criterions registered with fairseq: one for the loss of each method, one for all losses."""

from collections.abc import Sequence
from dataclasses import make_dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig

from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods import METHODS
from syntax_nmt.methods.method import Loss

# In the order in which 0.1.0 adds them, the reverse of the list: another order rounds differently.
LOSSES = tuple(method.loss for method in reversed(METHODS) if method.loss is not None)
ALL_LOSSES = "syntax_cross_entropy"


def _register(name: str, losses: Sequence[Loss], options: tuple[type, ...]) -> None:
    """Registers the translation loss plus losses, with options beside fairseq's own."""
    title = "".join(part.title() for part in name.split("_"))
    bases = (*options, LabelSmoothedCrossEntropyCriterionConfig)
    config = make_dataclass(f"{title}Config", (), bases=bases)
    content = {
        "objective_types": tuple(loss.objective for loss in losses),
        "weights": tuple(each.name for loss in losses for each in loss.weight_options),
    }
    criterion = type(f"{title}Criterion", (AuxiliaryCriterion,), content)
    register_criterion(name, dataclass=config)(criterion)


for _loss in LOSSES:
    _register(_loss.criterion, [_loss], (_loss.options,))
# A loss whose weight is 0, the default here, is off.
_register(ALL_LOSSES, LOSSES, tuple(loss.among_others for loss in LOSSES))


def ways_to_learn(kind: AnnotationKind) -> str:
    """The options that switch on a loss of some annotation, for messages."""
    found = (loss.objective for loss in LOSSES if kind in loss.objective.reads_annotation)
    return "; or ".join(objective.options for objective in found) + " (weights of 0 switch it off)"
