"""The layer with supervised heads in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.observed_layer import ObservedLayer
from syntax_nmt.backbone.structures import ARC_LABELS, DEPENDENCIES, PARENTS
from syntax_nmt.backbone.transformer_extension import TransformerStack
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.arc_labels import LabelledArcs
from syntax_nmt.methods.dependency_heads.biaffine import BiaffineHead
from syntax_nmt.methods.dependency_heads.loss import (
    CHILD_HEAD,
    PARENT_HEAD,
    SCORER,
    SUPERVISED,
    SUPERVISED_HEADS,
    SUPERVISED_LABELS,
)
from syntax_nmt.methods.dependency_heads.options import BIAFFINE, DependencyHeadOptions
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class SupervisedHeads(LabelledArcs, ObservedLayer):
    """The child head and the parent head of a layer, whose log-probabilities the loss reads."""

    option = "--supervised-layer"
    column = DEPREL
    scorer_name = SCORER
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
        found = {SUPERVISED: heads, PARENTS: heads[:, PARENT_HEAD]}
        if not self.relations:
            return found
        labels = self.labeller(x)
        return {**found, SUPERVISED_LABELS: labels, ARC_LABELS: labels}
