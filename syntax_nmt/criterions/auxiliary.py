"""The base of all criterions: translation loss plus auxiliary objectives."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.logging import metrics
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.errors import exits_in_fairseq_programs
from syntax_nmt.modules.linear_cross_entropy import LinearCrossEntropy
from syntax_nmt.modules.precision import exact_type

Sample = dict[str, Any]


class AuxiliaryObjective(ABC):
    """A loss beside the translation loss. It reads gold structures from the top of the batch.

    Attributes:
        reads_sides: the side information that it reads there.
        options: which switch it on, for messages.
    """

    reads_sides: ClassVar[tuple[SideKind, ...]] = ()
    options: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def from_options(cls, options: Any, task: FairseqTask) -> AuxiliaryObjective | None:
        """Builds the objective; None = its weights are 0.

        Raises:
            UserError: options that contradict each other.
        """

    def model_arguments(self, model: nn.Module) -> dict[str, Any]:
        """What the model's forward pass must be given besides its inputs.

        Raises:
            UserError: the model lacks what the loss needs.
        """
        return {}

    @abstractmethod
    def __call__(self, extra: Mapping[str, Any], sample: Sample) -> tuple[Tensor, dict[str, Any]]:
        """Computes the loss of a batch.

        Args:
            extra: the dictionary that the model returned beside its logits.

        Returns:
            the weighted loss, summed over the batch, and sums for the log: always the same keys,
            whatever the batch holds, because workers add them up by position.
        """

    @staticmethod
    @abstractmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs figures of one or many batches.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """


class AuxiliaryCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label-smoothed cross-entropy plus the losses of auxiliary objectives.

    The gradient is that of the sum. Only the translation loss is logged as `loss`, by which
    checkpoints are chosen; objectives log their losses beside it.

    Args:
        sentence_avg: divide by the number of sentences instead of target tokens.
        label_smoothing: ε.
        ignore_prefix_size: number of tokens to leave out at the start of each target.
        report_accuracy: log the share of target tokens predicted right.
        objectives: the auxiliary objectives, each of one of the `objective_types`.
    """

    objective_types: ClassVar[tuple[type[AuxiliaryObjective], ...]] = ()

    def __init__(
        self,
        task: FairseqTask,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int,
        report_accuracy: bool,
        objectives: Sequence[AuxiliaryObjective],
    ) -> None:
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        self.objectives = objectives

    @classmethod
    def build_criterion(cls, cfg: Any, task: FairseqTask) -> AuxiliaryCriterion:
        """Builds the criterion that the options describe.

        Raises:
            UserError: options that contradict each other; one line says which.
        """
        with exits_in_fairseq_programs():
            built = [objective.from_options(cfg, task) for objective in cls.objective_types]
        objectives = [objective for objective in built if objective is not None]
        return cls(
            task, cfg.sentence_avg, cfg.label_smoothing, cfg.ignore_prefix_size,
            cfg.report_accuracy, objectives,
        )  # fmt: skip

    def forward(
        self, model: nn.Module, sample: Sample, reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Computes the loss of a batch.

        Args:
            reduce: sum the translation loss over the batch.

        Returns:
            the loss, the number that its gradient is divided by, and sums for the log.

        Raises:
            UserError: the model lacks what the criterion needs.
        """
        arguments: dict[str, Any] = {}
        with exits_in_fairseq_programs():
            for objective in self.objectives:
                arguments.update(objective.model_arguments(model))
        if self._loss_in_model(model, reduce):
            arguments["token_loss"] = LinearCrossEntropy(
                self._counted(sample["target"]), self.eps, self.padding_idx
            )
        net_output = model(**sample["net_input"], **arguments)
        if "token_loss" in arguments:
            loss, nll_loss = net_output[0]
        else:
            loss, nll_loss = self.compute_loss(model, net_output, sample, reduce=reduce)
        sentences = sample["target"].size(0)
        sample_size = sentences if self.sentence_avg else sample["ntokens"]
        logs = {
            "loss": loss.data,
            "nll_loss": nll_loss.data,
            "ntokens": sample["ntokens"],
            "nsentences": sentences,
            "sample_size": sample_size,
        }
        if self.report_accuracy:
            correct, total = self.compute_accuracy(model, net_output, sample)
            logs.update(n_correct=correct.data, total=total.data)
        with exits_in_fairseq_programs():
            for objective in self.objectives:
                auxiliary_loss, auxiliary_logs = objective(net_output[1], sample)
                loss = loss + auxiliary_loss
                logs.update(auxiliary_logs)
        return loss, sample_size, logs

    def _loss_in_model(self, model: nn.Module, reduce: bool) -> bool:
        """Whether the model computes the loss with its output layer, without storing all logits."""
        return reduce and not self.report_accuracy and getattr(model, "takes_token_loss", False)

    def _counted(self, target: Tensor) -> Tensor:
        """The target, B×T, with pads in place of the tokens that do not count."""
        if self.ignore_prefix_size == 0:
            return target
        ignored = torch.arange(target.size(1), device=target.device) < self.ignore_prefix_size
        return target.masked_fill(ignored, self.padding_idx)

    @classmethod
    def reduce_metrics(cls, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Logs the figures of all workers.

        Args:
            logging_outputs: what :meth:`forward` gave for the log, one entry a worker and batch.
        """
        super().reduce_metrics(logging_outputs)

        def total(key: str) -> float:
            return float(sum(log.get(key, 0) for log in logging_outputs))

        for objective in cls.objective_types:
            objective.log(total)


def log_average(name: str, total: float, count: float) -> None:
    """Logs a loss per counted item, in bits as fairseq logs its own; nothing where none counted.

    Args:
        name: under which it is logged.
        total: the summed loss, in nats.
        count: of the items that it was summed over.
    """
    log_mean(name, total / math.log(2), count)


def log_mean(name: str, total: float, count: float) -> None:
    """Logs a figure per counted item; nothing where none counted.

    Args:
        name: under which it is logged.
        count: of the items that it was summed over.
    """
    if count > 0:
        metrics.log_scalar(name, total / count, count, round=3)


def log_percentage(name: str, part: float, whole: float) -> None:
    """Logs a share in per cent; nothing where the whole is empty.

    Args:
        name: under which it is logged.
        part: how many count.
        whole: of how many.
    """
    if whole > 0:
        metrics.log_scalar(name, 100 * part / whole, whole, round=2)


def detached_sum(values: Tensor) -> Tensor:
    """The sum of a loss or of a mask for the log, as a float without history."""
    return values.detach().sum(dtype=exact_type(values))
