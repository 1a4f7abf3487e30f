"""The criterions registered with fairseq: one for the loss of each method, one for all losses."""

from dataclasses import make_dataclass

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterionConfig

from syntax_nmt.criterions.auxiliary import AuxiliaryCriterion
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.methods import METHODS

# In the order in which 0.1.0 adds them, the reverse of the list: another order rounds differently.
LOSSES = tuple(method.loss for method in reversed(METHODS) if method.loss is not None)
ALL_LOSSES = "syntax_cross_entropy"


def _register(name: str, objectives: tuple, options: tuple) -> None:
    """Registers the translation loss plus objectives, with options beside fairseq's own."""
    title = "".join(part.title() for part in name.split("_"))
    bases = (*options, LabelSmoothedCrossEntropyCriterionConfig)
    config = make_dataclass(f"{title}Config", (), bases=bases)
    criterion = type(f"{title}Criterion", (AuxiliaryCriterion,), {"objective_types": objectives})
    register_criterion(name, dataclass=config)(criterion)


for _loss in LOSSES:
    _register(_loss.criterion, (_loss.objective,), (_loss.options,))
# A loss whose weight is 0, the default here, is off.
_register(
    ALL_LOSSES,
    tuple(loss.objective for loss in LOSSES),
    tuple(loss.among_others for loss in LOSSES),
)


def ways_to_learn(kind: AnnotationKind) -> str:
    """The options that switch on a loss of some annotation, for messages."""
    found = (loss.objective for loss in LOSSES if kind in loss.objective.reads_annotation)
    return "; or ".join(objective.options for objective in found) + " (weights of 0 switch it off)"
