"""The layer with supervised heads in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Extension
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.observed_layer import ObservedLayer
from syntax_nmt.backbone.structures import ARC_LABELS, DEPENDENCIES, PARENTS
from syntax_nmt.backbone.transformer_extension import TransformerStack
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL, TARGET_DEPREL, Column
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.column_labels import labels_of, take_labels
from syntax_nmt.methods.dependency_heads.arc_labels import NO_LABELS, ArcLabelScorer
from syntax_nmt.methods.dependency_heads.biaffine import BiaffineHead
from syntax_nmt.methods.dependency_heads.loss import (
    CHILD_HEAD,
    PARENT_HEAD,
    SUPERVISED,
    SUPERVISED_HEADS,
)
from syntax_nmt.methods.dependency_heads.options import BIAFFINE, DependencyHeadOptions
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class LabelledArcs(Extension):
    """The labels of the arcs of a supervised layer.

    Attributes:
        column: of the side's relations.
        relations: those of the data; () = arcs have no labels.
        labeller: scores the labels.
    """

    column: ClassVar[Column]
    relations: tuple[str, ...]
    labeller: ArcLabelScorer

    def relations_of(self, options: DependencyHeadOptions) -> tuple[str, ...]:
        """The relations of the data, if arcs have labels.

        Raises:
            UserError: the data has none, or a width is no width.
        """
        if options.dependency_labels == NO_LABELS:
            return ()
        if options.dependency_label_dim < 1:
            raise UserError(
                f"--dependency-label-dim {options.dependency_label_dim}: give 1 or more"
            )
        return labels_of(options, self.column, f"{self.option} with --dependency-labels")

    @property
    def labels(self) -> Mapping[AnnotationKind, tuple[str, ...]]:
        """The relations, if it labels arcs."""
        return {self.column: self.relations} if self.relations else {}

    @property
    def arc_labels(self) -> tuple[str, ...]:
        """The labels of its arcs."""
        return self.labeller.names if self.relations else ()

    @property
    def training_modules(self) -> tuple[str, ...]:
        """The scorer of labels."""
        return ("arc_label_scorer",)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The scorer of labels."""
        if not self.relations:
            return {}
        width, which = self.options.dependency_label_dim, str(self.options.dependency_labels)
        self.labeller = ArcLabelScorer(self.stack.embed_dim, width, self.relations, which)
        return {"arc_label_scorer": self.labeller}


class SupervisedHeads(LabelledArcs, ObservedLayer):
    """Two ordinary heads of a layer, whose log-probabilities the loss reads."""

    option = "--supervised-layer"
    column = DEPREL
    structures = (DEPENDENCIES,)

    def __init__(self, options: DependencyHeadOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        self.observed = layer_from_bottom(
            "--supervised-layer", self.options.supervised_layer, stack.layers, "encoder"
        )
        if stack.heads < SUPERVISED_HEADS:
            raise UserError(
                f"--supervised-layer needs a child head and a parent head, but "
                f"--encoder-attention-heads is {stack.heads}"
            )
        refuse_together("--supervised-layer", stack.cfg, "encoder_layerdrop")
        self.is_biaffine = options.dependency_scorer == BIAFFINE
        if self.is_biaffine:
            refuse_together(
                "--dependency-scorer biaffine", stack.cfg, "encoder_xformers_att_config"
            )

        self.relations = self.relations_of(options)
        self.learns: tuple[AnnotationKind, ...] = (HEADS, *self.labels)

    def scorer(self, layer: int) -> HeadScorer | None:
        """The biaffine form of the parent head."""
        if layer != self.observed or not self.is_biaffine:
            return None
        return BiaffineHead(PARENT_HEAD, self.stack.embed_dim // self.stack.heads)

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The two heads of the supervised layer."""
        if layer != self.observed:
            return {}
        return {CHILD_HEAD: "children", PARENT_HEAD: "parents"}

    def extra(self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList) -> ModelExtra:
        """Log-probabilities of the child and the parent head, B×2×S×S in float32 at least.

        And what scores the labels of arcs, if it labels them.

        Args:
            encoder_out: of a forward pass with all states.
        """
        layer: Any = layers[self.observed]
        x = self.attention_input(encoder_out, layers)
        padding = encoder_out["encoder_padding_mask"][0].unsqueeze(1)
        heads = first_heads(layer.self_attn, x, SUPERVISED_HEADS, padding)
        labels = {ARC_LABELS: self.labeller(x)} if self.relations else {}
        return {SUPERVISED: heads, PARENTS: heads[:, PARENT_HEAD], **labels}


def take_relations(options: Any, task: FairseqTask) -> None:
    """Gives a model the relations of the data, if it labels arcs.

    Args:
        options: of the model, a namespace; changed in place.
    """
    if getattr(options, "dependency_labels", None) in (None, NO_LABELS):
        return
    columns = {"supervised_layer": DEPREL, "target_supervised_layer": TARGET_DEPREL}
    wanted = [x for name, x in columns.items() if getattr(options, name, None) is not None]
    take_labels(options, task, wanted)
