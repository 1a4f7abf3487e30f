"""The loss that trains the parser of linguistically informed self-attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import Batch, Logged, ModelExtra, source_lengths
from syntax_nmt.errors import UserError
from syntax_nmt.methods.arc_labels import label_weight_without_effect, log_labels, logged_label_loss
from syntax_nmt.methods.objective import AuxiliaryObjective, detached_sum, gold_in
from syntax_nmt.methods.parent_heads import log_parent_head, parent_head_losses

PARSED = "lisa_heads"  # the parser's log-probabilities among what the model returns
PARSED_LABELS = "lisa_labels"  # what scores the labels of its arcs, likewise
_LOGGED = "parse_labels"


class LisaObjective(AuxiliaryObjective):
    """`−λ Σ_i log softmax_j(s_i)[head(i)]`, where the root is its own head.

    Tokens of sentences without a parse, EOS and pads do not count. Arcs may have labels, too.

    Args:
        parse_weight: λ.
        label_weight: that of the loss of arcs' labels.
        spans: finds the words of the source in its tokens, for labels.
    """

    reads_annotation: tuple[AnnotationKind, ...] = (HEADS, DEPREL)
    options = "--criterion lisa_cross_entropy, or --parse-weight to syntax_cross_entropy"

    def __init__(
        self, parse_weight: float, label_weight: float = 0.0, spans: WordSpans | None = None
    ) -> None:
        self.parse_weight, self.label_weight, self._spans = parse_weight, label_weight, spans
        self.reads_annotation = (HEADS, DEPREL) if label_weight else (HEADS,)

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> LisaObjective | None:
        """Builds the objective; None = the weight of the parser is 0."""
        weight, label_weight = options.parse_weight, options.label_weight
        if not weight:
            return None
        if not label_weight:
            return cls(weight)
        return cls(weight, label_weight, WordSpans(task.source_dictionary))

    def without_effect(self, model: nn.Module) -> Mapping[str, Iterable[str]]:
        """The weight of labels, if the model labels no arcs."""
        return label_weight_without_effect(model)

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
        heads = gold_in(sample, HEADS).long()
        losses, attached = parent_head_losses(extra[PARSED], heads)
        loss = losses.sum()
        logs = {
            "parse_loss": detached_sum(loss),
            "parse_attached": detached_sum(attached),
            "parse_supervised": detached_sum(heads.ge(0)),
            "parse_words": detached_sum(source_lengths(sample)),
        }
        loss = self.parse_weight * loss
        if self._spans is not None and PARSED_LABELS in extra:
            of_labels, label_logs = logged_label_loss(
                _LOGGED, extra[PARSED_LABELS], heads, DEPREL, sample, self._spans
            )
            loss, logs = loss + self.label_weight * of_labels, {**logs, **label_logs}
        return loss, logs

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs loss, attachment accuracy and the supervised share of source tokens, and labels.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        log_parent_head("parse", total)
        log_labels(_LOGGED, total)
