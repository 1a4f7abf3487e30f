"""The loss that trains the parser of linguistically informed self-attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.batch import Batch, Logged, ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.objective import AuxiliaryObjective, detached_sum
from syntax_nmt.methods.parent_heads import log_parent_head, parent_head_losses

PARSED = "lisa_heads"  # the parser's log-probabilities among what the model returns


class LisaObjective(AuxiliaryObjective):
    """`−λ Σ_i log softmax_j(s_i)[head(i)]`, where the root is its own head.

    Tokens of sentences without a parse, EOS and pads do not count.

    Args:
        parse_weight: λ.
    """

    reads_annotation = (HEADS,)
    options = "--criterion lisa_cross_entropy, or --parse-weight to syntax_cross_entropy"

    def __init__(self, parse_weight: float) -> None:
        self.parse_weight = parse_weight

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> LisaObjective | None:
        """Builds the objective; None = its weight is 0.

        Args:
            task: not used.
        """
        return cls(options.parse_weight) if options.parse_weight else None

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has the parser's log-probabilities, B×S×S.
            sample: has `heads`, B×S: the column of each token's head, a root's own, −1 where a
                token is not supervised.

        Returns:
            the weighted loss summed over the supervised tokens, and sums for the log.

        Raises:
            UserError: the model has no such parser, or the batch no heads.
        """
        if PARSED not in extra:
            raise UserError(
                "the model has no parser in its attention; train one with --arch lisa_transformer "
                "or with --lisa-layer, or give --parse-weight 0"
            )
        heads = HEADS.tensor_in(sample).long()
        losses, attached = parent_head_losses(extra[PARSED], heads)
        loss = losses.sum()
        logs = {
            "parse_loss": detached_sum(loss),
            "parse_attached": detached_sum(attached),
            "parse_supervised": detached_sum(heads.ge(0)),
            "parse_words": detached_sum(sample["net_input"]["src_lengths"] - 1),  # without EOS
        }
        return self.parse_weight * loss, logs

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs loss, attachment accuracy and the supervised share of source tokens.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        log_parent_head("parse", total)
