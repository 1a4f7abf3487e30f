"""The labels of the arcs that attention heads find: options, a biaffine scorer and its loss.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.arguments import DECODER, ENCODER, Needs, option
from syntax_nmt.backbone.extension import Extension
from syntax_nmt.backbone.numerics import at_least_float32, with_gradients_of
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation.columns import EMPTY, UNKNOWN, Column
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import Batch, Logged, source_tokens
from syntax_nmt.data.conllu import is_root
from syntax_nmt.methods.column_labels import (
    FULL,
    UNIVERSAL,
    ColumnLabelOptions,
    labels_of,
    numbered_relations,
    take_labels,
)
from syntax_nmt.methods.objective import detached_sum, gold_in, log_average, log_percentage
from syntax_nmt.option_checks import check_from_one
from syntax_nmt.text.languages import SOURCE

NO_LABELS = "none"
LABELS = (NO_LABELS, FULL, UNIVERSAL)
LabelChoice = ChoiceEnum(LABELS)
_SLOPE = 0.1


def label_option(*needs: Needs) -> Any:
    """`--dependency-labels` of a method.

    Args:
        needs: options that make it learn arcs, one of which labels need.
    """
    return option(
        NO_LABELS,
        "attention heads that learn dependency trees: a biaffine layer learns the relation of each "
        "arc from the input of their layer, with its subtype (full) or without (universal); "
        "not computed in translation (default: none)",
        *needs,
        shared=True,
    )


@dataclass
class ArcLabelOptions(ColumnLabelOptions):
    """Off by default. A method whose arcs have labels declares :func:`label_option` again."""

    dependency_labels: LabelChoice = label_option()  # type: ignore[valid-type]
    dependency_label_dim: int = option(
        64,
        "attention heads that learn dependency trees: width p of the views of dependents and heads "
        "that --dependency-labels compares (default: 64)",
        Needs("dependency_labels", (FULL, UNIVERSAL)),
        shared=True,
    )


def label_weight_option() -> Any:
    """`--label-weight` of a loss."""
    return option(
        0.1, "weight of the loss of the arcs' labels, of --dependency-labels (default: 0.1)"
    )


class ArcLabels(NamedTuple):
    """What scores the labels of a batch's arcs, without a number for each pair of tokens and label.

    Attributes:
        names: R labels.
        classes: of the label with the id k in annotation, its number among `names` at k − 1.
        of_pairs: B×S×R×p, meets the governor's view.
        alone: B×S×R, of the dependent alone.
        governors: B×S×p.
    """

    names: tuple[str, ...]
    classes: Tensor
    of_pairs: Tensor
    alone: Tensor
    governors: Tensor

    def logits(self, heads: Tensor) -> Tensor:
        """The logits of each token's arc, B×S×R.

        Args:
            heads: B×S, the column of each token's head.
        """
        width = self.governors.size(-1)
        met = self.governors.gather(1, heads.unsqueeze(-1).expand(-1, -1, width))
        return torch.matmul(self.of_pairs, met.unsqueeze(-1)).squeeze(-1) + self.alone

    def best(self, row: int, words: int) -> Tensor:
        """The best label of every pair of a sentence, `[dependent, head]`, words×words.

        An arc from a token to itself is a root's; no other arc has its label.

        Args:
            row: its place in the batch.
            words: the number of tokens.
        """
        pairs, alone = self.of_pairs[row, :words], self.alone[row, :words]
        logits = torch.einsum("irp,jp->ijr", pairs, self.governors[row, :words])
        logits = logits + alone.unsqueeze(1)
        roots = [number for number, name in enumerate(self.names) if is_root(name)]
        never = [is_root(name) or name in (UNKNOWN, EMPTY) for name in self.names]
        logits = logits.masked_fill(torch.tensor(never, device=logits.device), float("-inf"))
        best = logits.argmax(dim=-1)
        if roots:
            best.fill_diagonal_(roots[0])
        return best

    def earlier(self) -> "ArcLabels":
        """All of them moved one column to the left, the first column to the end."""
        parts = (each.roll(-1, 1) for each in (self.of_pairs, self.alone, self.governors))
        return ArcLabels(self.names, self.classes, *parts)


class ArcView(nn.Linear):
    """`LeakyReLU(W x + b)`: what a biaffine scorer sees of a token as a dependent, or as a head."""

    def forward(self, x: Tensor) -> Tensor:
        """The view, …×p.

        Args:
            x: …×C.
        """
        return F.leaky_relu(super().forward(x), _SLOPE)

    def begin(self) -> None:
        """Draws W by Xavier's bound, and sets b to 0."""
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)


class ArcLabelScorer(nn.Module):
    """`z_ij[r] = d_iᵀ U_r e_j + V_r [d_i; e_j] + c_r` (Dozat and Manning, 2017, equation 3).

    d and e are an :class:`ArcView` each, of the dependent and of the head. U, V and c begin as
    zeros: all labels are equally likely.

    Args:
        embed_dim: C.
        dim: p.
        labels: of the annotation, in the order of their ids.
        which: of :data:`LABELS`: with the subtypes of relations, or without.
    """

    classes: Tensor

    def __init__(self, embed_dim: int, dim: int, labels: Sequence[str], which: str) -> None:
        super().__init__()
        self.names, classes = numbered_relations(labels, which)
        self.register_buffer("classes", torch.tensor(classes), persistent=False)
        self.dependent, self.governor = ArcView(embed_dim, dim), ArcView(embed_dim, dim)
        for view in (self.dependent, self.governor):
            view.begin()
        # U and the right half of V, which meet e; and the left half with c.
        self.of_pairs = nn.Linear(dim, len(self.names) * dim)
        self.alone = nn.Linear(dim, len(self.names))
        for output in (self.of_pairs, self.alone):
            nn.init.zeros_(output.weight)
            nn.init.zeros_(output.bias)

    def forward(self, x: Tensor) -> ArcLabels:
        """What scores the arcs.

        Args:
            x: S×B×C.
        """
        x = x.transpose(0, 1)
        dependent = self.dependent(x)
        pairs = self.of_pairs(dependent).unflatten(-1, (len(self.names), -1))
        alone, governor = self.alone(dependent), self.governor(x)
        return ArcLabels(self.names, self.classes, pairs, alone, governor)


def label_losses(
    arcs: ArcLabels, heads: Tensor, labels: Tensor, opens: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The cross-entropy of the labels of gold arcs, and masks of right and of supervised tokens.

    Args:
        heads: B×S, −1 = not supervised.
        labels: ids in annotation, B×S, from 1; less = not supervised.
        opens: B×S, True = the first subword of its word; others are not supervised.

    Returns:
        the sum over the supervised tokens; two masks, B×S.
    """
    supervised = heads.ge(0) & labels.ge(1) & opens
    classes = arcs.classes[(labels - 1).clamp(min=0)]
    logits = at_least_float32(arcs.logits(heads.clamp(min=0)))
    losses = F.cross_entropy(logits.flatten(0, 1), classes.flatten(), reduction="none")
    right = logits.argmax(dim=-1).eq(classes) & supervised
    return losses.view_as(heads).masked_fill(~supervised, 0.0).sum(), right, supervised


class LabelledArcs(Extension):
    """The labels of the arcs that heads of a layer learn.

    Attributes:
        column: of the side's relations.
        scorer_name: under which the model registers what scores the labels.
        relations: those of the data; () = arcs have no labels.
        labeller: scores the labels.
    """

    column: ClassVar[Column]
    scorer_name: ClassVar[str]
    relations: tuple[str, ...]
    labeller: ArcLabelScorer

    def relations_of(self, options: ArcLabelOptions) -> tuple[str, ...]:
        """The relations of the data, if arcs have labels.

        Raises:
            UserError: the data has none, or a width is no width.
        """
        if options.dependency_labels == NO_LABELS:
            return ()
        check_from_one(options, ["dependency_label_dim"])
        return labels_of(options, self.column, f"{self.option} with --dependency-labels")

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The relations, if it labels arcs."""
        return {self.column: self.relations} if self.relations else {}

    @property
    def arc_labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The labels of its arcs."""
        return self.labeller.names if self.relations else ()

    @property
    def training_modules(self) -> tuple[str, ...]:
        """The scorer of labels."""
        return (self.scorer_name,)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The scorer of labels.

        Args:
            output_dim: not read.
        """
        if not self.relations:
            return {}
        width, which = self.options.dependency_label_dim, str(self.options.dependency_labels)
        self.labeller = ArcLabelScorer(self.stack.embed_dim, width, self.relations, which)
        return {self.scorer_name: self.labeller}

    def embed(self, embedded: Tensor, batch: Any) -> Tensor:
        """The same vectors: without a loss of labels the scorer would not be part of the graph.

        Args:
            embedded: of the tokens of either side, B×S×E.
        """
        if self.relations and self.labeller.training and torch.is_grad_enabled():
            return with_gradients_of(embedded, self.labeller.parameters())
        return embedded


def take_arc_labels(options: Any, task: FairseqTask, columns: Mapping[str, Column]) -> None:
    """Gives a model the relations of the data, if it labels arcs.

    Args:
        options: of the model, a namespace; changed in place.
        columns: the relations that each option needs, if it is given.
    """
    if getattr(options, "dependency_labels", None) in (None, NO_LABELS):
        return
    wanted = [x for name, x in columns.items() if getattr(options, name, None) is not None]
    take_labels(options, task, wanted)


def label_weight_without_effect(model: nn.Module) -> Mapping[str, Iterable[str]]:
    """`--label-weight` if no part of a model labels arcs, by the option of the model."""
    halves = (getattr(model, name, None) for name in (ENCODER, DECODER))
    if any(getattr(half, "arc_labels", ()) for half in halves):
        return {}
    return {f"--dependency-labels {NO_LABELS}": ["label_weight"]}


def logged_label_loss(
    name: str, arcs: ArcLabels, heads: Tensor, column: Column, sample: Batch, spans: WordSpans
) -> tuple[Tensor, Logged]:
    """The sum of :func:`label_losses` of a batch, and sums for :func:`log_labels`.

    Args:
        name: the first part of the names of what is logged.
        heads: of :func:`label_losses`.
        column: the relations of a side.
        spans: finds the words of that side in its tokens.

    Raises:
        UserError: the batch has no relations.
    """
    labels = gold_in(sample, column, "--dependency-labels").long()
    tokens = source_tokens(sample) if column.side == SOURCE else sample["target"]
    opens = spans.to(tokens.device).openers(tokens)
    loss, right, supervised = label_losses(arcs, heads, labels, opens)
    return loss, {
        f"{name}_loss": detached_sum(loss),
        f"{name}_right": detached_sum(right),
        f"{name}_supervised": detached_sum(supervised),
    }


def log_labels(name: str, total: Callable[[str], float]) -> None:
    """Logs loss and accuracy of the labels of gold arcs.

    Args:
        name: that of :func:`logged_label_loss`.
        total: gives the sum of one logged key over all batches and workers.
    """
    words = total(f"{name}_supervised")
    log_average(f"{name}_loss", total(f"{name}_loss"), words)
    log_percentage(f"{name}_accuracy", total(f"{name}_right"), words)
