"""The base of all criterions: translation loss plus auxiliary objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.linear_cross_entropy import TOKEN_LOSS, LinearCrossEntropy
from syntax_nmt.data.batch import Batch, Logged
from syntax_nmt.errors import exits_in_fairseq_programs
from syntax_nmt.methods.objective import AuxiliaryObjective
from syntax_nmt.option_checks import check_from_zero


class AuxiliaryCriterion(LabelSmoothedCrossEntropyCriterion):
    """fairseq's label-smoothed cross-entropy plus the losses of auxiliary objectives.

    The gradient is that of the sum. Only the translation loss is logged as `loss`, which selects
    checkpoints; objectives log their losses in addition.

    Args:
        sentence_avg: divide by the number of sentences instead of target tokens.
        label_smoothing: ε.
        ignore_prefix_size: number of tokens to omit at the start of each target.
        report_accuracy: log the share of target tokens predicted right.
        objectives: the auxiliary objectives, each of one of the `objective_types`.

    Attributes:
        weights: the options that are weights of theirs.
        options: that it was built of.
    """

    objective_types: ClassVar[tuple[type[AuxiliaryObjective], ...]] = ()
    weights: ClassVar[tuple[str, ...]] = ()
    options: Any

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
            UserError: options that contradict each other, or a weight that is negative, infinite or
                NaN; one line says which.
        """
        with exits_in_fairseq_programs():
            check_from_zero(cfg, cls.weights)
            built = [objective.from_options(cfg, task) for objective in cls.objective_types]
        objectives = [objective for objective in built if objective is not None]
        criterion = cls(
            task, cfg.sentence_avg, cfg.label_smoothing, cfg.ignore_prefix_size,
            cfg.report_accuracy, objectives,
        )  # fmt: skip
        criterion.options = cfg
        return criterion

    def forward(
        self, model: nn.Module, sample: Batch, reduce: bool = True
    ) -> tuple[Tensor, int, Logged]:
        """Computes the loss of a batch.

        Args:
            reduce: sum the translation loss over the batch.

        Returns:
            the loss, the number that its gradient is divided by, and sums for the log. Without
            `reduce` the loss is of each token, with the sum of the auxiliary losses added to it.

        Raises:
            UserError: the model lacks what the criterion needs.
        """
        arguments: dict[str, Any] = {}
        with exits_in_fairseq_programs():
            for objective in self.objectives:
                objective.prepare(model)
                arguments.update(objective.model_arguments(model))
        if self._loss_in_model(model, reduce):
            arguments[TOKEN_LOSS] = LinearCrossEntropy(
                self._counted(sample["target"]), self.eps, self.padding_idx
            )
        net_output = model(**sample["net_input"], **arguments)
        _, extra = net_output
        if TOKEN_LOSS in extra:
            loss, nll_loss = extra[TOKEN_LOSS]
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
                auxiliary_loss, auxiliary_logs = objective(extra, sample)
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
