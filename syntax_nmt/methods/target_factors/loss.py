"""Target factors: their loss, their accuracy, and validation with the decoder's own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor
from torch.nn.functional import cross_entropy

from syntax_nmt.backbone.numerics import at_least_float32
from syntax_nmt.backbone.structures import TARGET_FACTORS
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import TARGET_COLUMNS
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import (
    AuxiliaryObjective,
    Validation,
    detached_sum,
    gold_in,
    log_average,
    log_percentage,
)
from syntax_nmt.methods.target_factors.options import LAST
from syntax_nmt.option_checks import warn_of_changed

_IGNORED = -100


class TargetFactorObjective(AuxiliaryObjective):
    """`λ Σ_k Σ_r −log softmax(z^k_r)[g^k_r]`, over the words that have an annotation.

    Pads, EOS and sentences without a parse do not count.

    Args:
        weight: λ.
        spans: finds the words of the target, of which only the last pieces count; None = all do.
    """

    reads_annotation = TARGET_COLUMNS
    options = "--criterion factor_cross_entropy, or --target-factor-weight to syntax_cross_entropy"

    def __init__(self, weight: float, spans: WordSpans | None = None) -> None:
        self.weight, self._spans = weight, spans

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> TargetFactorObjective | None:
        """Builds the objective; None = its weight is 0."""
        if not options.target_factor_weight:
            warn_of_changed(options, ["target_factor_pieces"], "--target-factor-weight 0")
            return None
        last = options.target_factor_pieces == LAST
        spans = WordSpans(task.target_dictionary) if last else None
        return cls(options.target_factor_weight, spans)

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has `target_factors`, as the decoder gives them.
            sample: has B×T of each factor: the id of the word's value from 1, −1 = not supervised.
                Validation does not need it.

        Returns:
            the weighted loss summed over words and factors, and sums for the log.

        Raises:
            UserError: the model has no factors; or a batch to be trained on lacks annotation.
        """
        if TARGET_FACTORS not in extra:
            raise UserError(
                "the model has no target factors: give --arch factor_transformer, or "
                "--target-factors to another one"
            )
        losses, logs = [], {}
        counted = None if self._spans is None else _last_pieces(sample["target"], self._spans)
        for kind, _, logits in extra[TARGET_FACTORS]:
            if kind.key in sample or torch.is_grad_enabled():
                values = gold_in(sample, kind).long()
            else:
                values = torch.full_like(logits[..., 0], -1, dtype=torch.long)
            supervised = values.ge(1)
            if counted is not None:
                supervised &= counted
            classes = (values - 1).masked_fill(~supervised, _IGNORED)
            losses.append(
                cross_entropy(
                    at_least_float32(logits).flatten(0, 1),
                    classes.flatten(),
                    ignore_index=_IGNORED,
                    reduction="sum",
                )
            )
            right = logits.argmax(dim=-1).eq(classes)
            logs[f"{kind.key}_right"] = detached_sum(right)
            logs[f"{kind.key}_words"] = detached_sum(supervised)
            logs[f"{kind.key}_loss"] = detached_sum(losses[-1])
        return self.weight * sum(losses[1:], start=losses[0]), logs

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs loss and accuracy of each factor.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        for column in TARGET_COLUMNS:
            words = total(f"{column.key}_words")
            log_average(f"{column.name}_loss", total(f"{column.key}_loss"), words)
            log_percentage(f"{column.name}_accuracy", total(f"{column.key}_right"), words)


def _last_pieces(tokens: Tensor, spans: WordSpans) -> Tensor:
    """True at the last piece of each word, B×T."""
    columns = torch.arange(tokens.size(1), device=tokens.device)
    return spans.to(tokens.device)(tokens).last.eq(columns)


class FactorValidation(Validation):
    """The decoder reads its own values, as in a search; the loss reads those of the annotation."""

    def applies(self, sample: Batch) -> bool:
        """Whether a batch has columns of the target among the inputs of the model."""
        return any(column.key in sample["net_input"] for column in TARGET_COLUMNS)

    def as_in_search(self, sample: Batch) -> Batch:
        """The batch with the columns at its top alone."""
        keys = {key for column in TARGET_COLUMNS for key in column.keys}
        inputs = {name: value for name, value in sample["net_input"].items() if name not in keys}
        return {**sample, "net_input": inputs}
