"""Dependency-supervised self-attention: the loss that trains heads of both sides on parses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.structures import ARC_LABELS, TARGET_ARC_LABELS, TARGET_PARENTS
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS, TARGET_HEADS
from syntax_nmt.data.annotation.columns import DEPREL, TARGET_DEPREL
from syntax_nmt.data.batch import Batch, Logged, ModelExtra, source_lengths
from syntax_nmt.errors import UserError
from syntax_nmt.methods.arc_labels import label_weight_without_effect, log_labels, logged_label_loss
from syntax_nmt.methods.objective import (
    AuxiliaryObjective,
    detached_sum,
    gold_in,
    log_average,
    log_percentage,
)
from syntax_nmt.methods.parent_heads import log_parent_head, parent_head_losses

CHILD_HEAD, PARENT_HEAD = 0, 1
SUPERVISED_HEADS = 2
SUPERVISED = "supervised_heads"  # log-probabilities of both heads among what the model returns
SUPERVISED_LABELS = "arc_labels_of_heads"  # what scores the labels of their arcs, likewise
SCORER = "arc_label_scorer"  # the module that does, of either side
_LOGGED = (ARC_LABELS, TARGET_ARC_LABELS)
NO_SUPERVISED_HEADS = (
    "the model has no supervised attention heads; train one with "
    "--arch dependency_transformer or with --supervised-layer"
)


class DependencyObjective(AuxiliaryObjective):
    """`α·Lc + β·Lp` of Wang et al. (2019), equations 4 to 7, and `λ·Lt` of Deguchi et al. (2019).

    `Lp = −Σ_i log Pp[i, parent(i)]`, where the root is its own parent.
    `Lc = −Σ_i Σ_j Wc[i, j] log Pc[i, j]`, where `Wc[i, j] = 1/n_i` for the n_i children j of i, and
    `Wc[i, i] = 1` for a leaf. Neither matrix is built: one gather along the head indices gives both
    sums. Lt is Lp of the target, for the words whose head does not come later. Tokens of
    sentences without a parse, EOS and pads do not count.

    Args:
        child_weight: α.
        parent_weight: β.
        target_weight: λ.
        label_weight: that of the loss of arcs' labels.
        spans: finds the words of source and target in their tokens, for labels.
    """

    reads_annotation = (HEADS, TARGET_HEADS, DEPREL, TARGET_DEPREL)
    options = (
        "--criterion dependency_cross_entropy, or --child-weight and --parent-weight to "
        "syntax_cross_entropy; for the target --target-parent-weight to either"
    )

    def __init__(
        self,
        child_weight: float,
        parent_weight: float,
        target_weight: float = 0.0,
        label_weight: float = 0.0,
        spans: tuple[WordSpans, ...] = (),
    ) -> None:
        self.child_weight, self.parent_weight = child_weight, parent_weight
        self.target_weight, self.label_weight = target_weight, label_weight
        self._spans = spans
        of_source = (HEADS, DEPREL) if child_weight or parent_weight else ()
        of_target = (TARGET_HEADS, TARGET_DEPREL) if target_weight else ()
        self.reads_annotation = tuple(
            kind
            for kind in (*of_source, *of_target)
            if label_weight or kind not in (DEPREL, TARGET_DEPREL)
        )

    @classmethod
    def from_options(cls, options: Any, task: FairseqTask) -> DependencyObjective | None:
        """Builds the objective; None = all weights of heads are 0."""
        weights = options.child_weight, options.parent_weight, options.target_parent_weight
        if not any(weights):
            return None
        if not options.label_weight:
            return cls(*weights)
        spans = WordSpans(task.source_dictionary), WordSpans(task.target_dictionary)
        return cls(*weights, options.label_weight, spans)

    def without_effect(self, model: nn.Module) -> Mapping[str, Iterable[str]]:
        """The weight of labels, if the model labels no arcs."""
        return label_weight_without_effect(model)

    def __call__(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        """Computes the loss of a batch.

        Args:
            extra: has `supervised_heads`, B×2×S×S, and of the target `target_parents`, B×T×T.
            sample: has `heads`, B×S, and of the target `target_heads`, B×T: the column of each
                token's parent, a root's own column, −1 where a token is not supervised.

        Returns:
            the weighted loss summed over the supervised tokens, and sums for the log.

        Raises:
            UserError: the model has no supervised heads, or the batch no head indices.
        """
        parts = []
        if HEADS in self.reads_annotation:
            parts.append(self._of_source(extra, sample))
        if TARGET_HEADS in self.reads_annotation:
            parts.append(self._of_target(extra, sample))
        if self.label_weight:
            parts += self._of_labels(extra, sample)
        losses, logs = zip(*parts)
        return sum(losses[1:], start=losses[0]), {key: x for log in logs for key, x in log.items()}

    def _of_source(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        if SUPERVISED not in extra:
            raise UserError(NO_SUPERVISED_HEADS)
        log_probabilities, heads = extra[SUPERVISED], gold_in(sample, HEADS).long()
        child_losses = child_head_losses(log_probabilities[:, CHILD_HEAD], heads)
        parent_losses, attached = parent_head_losses(log_probabilities[:, PARENT_HEAD], heads)
        child_loss, parent_loss = child_losses.sum(), parent_losses.sum()
        logs = {
            "child_loss": detached_sum(child_loss),
            "parent_loss": detached_sum(parent_loss),
            "attached": detached_sum(attached),
            "supervised": detached_sum(heads.ge(0)),
            "source_words": detached_sum(source_lengths(sample)),
        }
        return self.child_weight * child_loss + self.parent_weight * parent_loss, logs

    def _of_target(self, extra: ModelExtra, sample: Batch) -> tuple[Tensor, Logged]:
        if TARGET_PARENTS not in extra:
            raise UserError(
                "the model has no supervised head of the target: give --target-supervised-layer, "
                "such as 0, or leave --target-parent-weight out"
            )
        heads = without_later(gold_in(sample, TARGET_HEADS, "--target-parent-weight").long())
        losses, attached = parent_head_losses(extra[TARGET_PARENTS], heads)
        loss = losses.sum()
        logs = {
            "target_parent_loss": detached_sum(loss),
            "target_parent_attached": detached_sum(attached),
            "target_parent_supervised": detached_sum(heads.ge(0)),
            "target_parent_words": sample["ntokens"] - len(sample["target"]),  # without EOS
        }
        return self.target_weight * loss, logs

    def _of_labels(self, extra: ModelExtra, sample: Batch) -> list[tuple[Tensor, Logged]]:
        """The losses of the labels of each side whose arcs are learned, and have labels."""
        sides = (
            (SUPERVISED_LABELS, HEADS, DEPREL),
            (TARGET_ARC_LABELS, TARGET_HEADS, TARGET_DEPREL),
        )
        found = []
        for logged, (name, kind, column), spans in zip(_LOGGED, sides, self._spans):
            if name not in extra or kind not in self.reads_annotation:
                continue
            heads = sample[kind.key].long()
            if kind == TARGET_HEADS:
                heads = without_later(heads)
            loss, logs = logged_label_loss(logged, extra[name], heads, column, sample, spans)
            found.append((self.label_weight * loss, logs))
        return found

    @staticmethod
    def log(total: Callable[[str], float]) -> None:
        """Logs losses per supervised token, attachment accuracy and the supervised share.

        Args:
            total: gives the sum of one logged key over all batches and workers.
        """
        supervised = total("supervised")
        log_average("child_loss", total("child_loss"), supervised)
        log_average("parent_loss", total("parent_loss"), supervised)
        log_percentage("uas", total("attached"), supervised)
        log_percentage("supervised", supervised, total("source_words"))
        log_parent_head("target_parent", total)
        for name in _LOGGED:
            log_labels(name, total)


def without_later(heads: Tensor) -> Tensor:
    """The heads, B×T, with −1 where a head comes later."""
    columns = torch.arange(heads.size(1), device=heads.device)
    return heads.masked_fill(heads > columns, -1)


def child_head_losses(log_probabilities: Tensor, heads: Tensor) -> Tensor:
    """Each token's part of Lc: as a child, its share of its parent's row; as a leaf, its own row.

    Args:
        log_probabilities: of the child head, B×S×S.
        heads: B×S; −1 = not supervised.

    Returns:
        losses, B×S, 0 where not supervised.
    """
    supervised = heads.ge(0)
    parents = heads.clamp(min=0)
    columns = torch.arange(heads.size(1), device=heads.device)
    is_child = supervised & parents.ne(columns)  # a root's link to itself is not a child link
    children = torch.zeros_like(log_probabilities[:, 0])
    children.scatter_add_(1, parents, is_child.to(children))

    as_child = log_probabilities.gather(1, parents.unsqueeze(1)).squeeze(1)  # Pc[parent(j), j]
    as_child = as_child / children.gather(1, parents).clamp(min=1)
    as_leaf = log_probabilities.diagonal(dim1=1, dim2=2)
    is_leaf = supervised & children.eq(0)
    # Selected, not multiplied by 0: unselected values may be −inf.
    return -(as_child.masked_fill(~is_child, 0.0) + as_leaf.masked_fill(~is_leaf, 0.0))
