"""The layer of a Transformer encoder whose first head is a parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.observed_layer import ObservedLayer
from syntax_nmt.backbone.structures import ARC_LABELS, DEPENDENCIES, PARENTS
from syntax_nmt.backbone.transformer_extension import LayerModifier, TransformerStack
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.arc_labels import LabelledArcs
from syntax_nmt.methods.lisa.loss import PARSED, PARSED_LABELS
from syntax_nmt.methods.lisa.options import GOLD, LisaOptions
from syntax_nmt.methods.lisa.parser_head import ParserHead, TreeInjection
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class ParserLayer(LabelledArcs, ObservedLayer):
    """A layer whose first head attends with the weights of a parser, or to a given tree."""

    option = "--lisa-layer"
    column = DEPREL
    scorer_name = "lisa_label_scorer"
    structures = (DEPENDENCIES,)

    def __init__(self, options: LisaOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        refuse_together(
            "--lisa-layer", stack.cfg, "encoder_layerdrop", "encoder_xformers_att_config"
        )
        self.observed = layer_from_bottom(
            "--lisa-layer", self.options.lisa_layer, stack.layers, "encoder"
        )
        self.head_dim = stack.embed_dim // stack.heads
        self.dim = self.head_dim if options.lisa_dim is None else options.lisa_dim
        if self.dim < 1:
            raise UserError(f"--lisa-dim {self.dim}: give 1 or more; published is 500")
        in_training = options.lisa_attention == GOLD
        self.injection = TreeInjection(stack.heads, options.lisa_inject, in_training)
        self.relations = self.relations_of(options)
        self.learns: tuple[AnnotationKind, ...] = (HEADS, *self.labels)

    @property
    def reads(self) -> tuple[AnnotationKind, ...]:  # type: ignore[override]
        """Trees, as long as they are injected."""
        return (HEADS,) if self.injection.acts else ()

    def scorer(self, layer: int) -> HeadScorer | None:
        """The parser of its layer."""
        if layer != self.observed:
            return None
        return ParserHead(self.stack.embed_dim, self.head_dim, self.dim)

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The parser's head."""
        return {0: "parents"} if layer == self.observed else {}

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """What injects trees, which has no parameters, and the scorer of labels."""
        return {"lisa_injection": self.injection, **super().build(output_dim)}

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The bias that injects trees.

        Args:
            like: gives the type.
        """
        if not self.injection.acts:
            return []
        bias = self.injection(HEADS.tensor_in(source.annotation), like)
        return [LayerModifier((self.observed,), AttentionModifier(bias=bias))]

    def extra(self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList) -> ModelExtra:
        """The parser's log-probabilities, B×S×S in float32 at least.

        And what scores the labels of arcs, if it labels them.

        Args:
            encoder_out: of a forward pass with all states.
        """
        layer: Any = layers[self.observed]
        x = self.attention_input(encoder_out, layers)
        padding = encoder_out["encoder_padding_mask"][0].unsqueeze(1)
        parsed = first_heads(layer.self_attn, x, 1, padding).squeeze(1)
        found = {PARSED: parsed, PARENTS: parsed}
        if not self.relations:
            return found
        labels = self.labeller(x)
        return {**found, PARSED_LABELS: labels, ARC_LABELS: labels}
