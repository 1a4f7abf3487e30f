"""The loss of a method, added to the translation loss; and the validation of one that chooses."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from fairseq.logging import metrics
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError


class AuxiliaryObjective(ABC):
    """A loss added to the translation loss. It reads gold structures from the top of the batch.

    Attributes:
        reads_annotation: the annotation that it reads there.
        options: the options that switch it on, for messages.
    """

    reads_annotation: tuple[AnnotationKind, ...] = ()
    options: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def from_options(cls, options: Any, task: FairseqTask) -> AuxiliaryObjective | None:
        """Builds the objective; None = its weights are 0.

        Raises:
            UserError: options that contradict each other.
        """

    def without_effect(self, model: nn.Module) -> Mapping[str, Iterable[str]]:
        """The options of the criterion that a model makes ineffective, by its option that does."""
        return {}

    def prepare(self, model: nn.Module) -> None:
        """Checks, before each forward pass, that the model has what the loss needs; and tells it
        what the loss does.

        Raises:
            UserError: it has not.
        """

    def model_arguments(self, model: nn.Module) -> dict[str, Any]:
        """Further arguments of the model's forward pass.

        Raises:
            UserError: the model lacks what the loss needs.
        """
        return {}

    @abstractmethod
    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: the dictionary that the model returned with its logits.

        Returns:
            the weighted loss, summed over the batch, and sums for the log: the same keys for every
            batch, because workers add them up by position.
        """

    @staticmethod
    @abstractmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs figures of one or many batches.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """


class Validation(ABC):
    """How a model is validated that chooses structures itself where they are not annotated.

    The loss of translation under its own choices selects checkpoints, because annotation of the
    target tells of the words that it belongs to.
    """

    @abstractmethod
    def applies(self, sample: Batch) -> bool:
        """Whether a batch has such annotation among the inputs of the model."""

    @abstractmethod
    def as_in_search(self, sample: Batch) -> Batch:
        """A copy of the batch without it."""

    def under_annotation(self, sample: Batch, model: nn.Module, criterion: nn.Module) -> Logged:
        """Sums for the log of a pass with the annotation."""
        return {}

    def log(self, total: Callable[[str], float]) -> None:
        """Logs them.

        Args:
            total: gives the sum of one key over all batches and workers; those of training lack it.
        """


def gold_in(sample: Batch, kind: AnnotationKind, needed_by: str = "the criterion") -> Tensor:
    """The annotation of a batch that a loss reads.

    Args:
        needed_by: what reads it, for the message.

    Raises:
        UserError: the batch has none.
    """
    if kind.key not in sample:
        raise UserError(
            f"{needed_by} needs the {kind.description}: add {kind.flag} "
            f"(`syntax-nmt prepare {kind.making}` makes them)"
        )
    return sample[kind.key]


def log_average(name: str, total: float, count: float) -> None:
    """Logs a loss per counted item, in bits, like fairseq's losses; logs nothing if no item
    counted.

    Args:
        name: under which it is logged.
        total: the summed loss, in nats.
        count: of the items that it was summed over.
    """
    log_mean(name, total / math.log(2), count)


def log_mean(name: str, total: float, count: float) -> None:
    """Logs a figure per counted item; nothing if no item counted.

    Args:
        name: under which it is logged.
        count: of the items that it was summed over.
    """
    if count > 0:
        metrics.log_scalar(name, total / count, count, round=3)


def log_percentage(name: str, part: float, whole: float) -> None:
    """Logs a share in per cent; nothing if the whole is empty.

    Args:
        name: under which it is logged.
        part: number of items that count.
        whole: number of all items.
    """
    if whole > 0:
        metrics.log_scalar(name, 100 * part / whole, whole, round=2)


def detached_sum(values: Tensor) -> Tensor:
    """The sum of a loss or of a mask for the log, as a float without history."""
    return values.detach().sum(dtype=exact_type(values))
