"""The layer with a supervised head in a Transformer decoder (Deguchi et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.structures import TARGET_ARC_LABELS, TARGET_DEPENDENCIES, TARGET_PARENTS
from syntax_nmt.backbone.transformer_extension import TransformerDecoderExtension, TransformerStack
from syntax_nmt.data.annotation import TARGET_HEADS
from syntax_nmt.data.annotation.columns import TARGET_DEPREL
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.errors import UserError
from syntax_nmt.methods.arc_labels import LabelledArcs
from syntax_nmt.methods.dependency_heads.biaffine import BiaffineHead
from syntax_nmt.methods.dependency_heads.loss import SCORER
from syntax_nmt.methods.dependency_heads.options import BIAFFINE, READ, DependencyHeadOptions
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class TargetHead(LabelledArcs, TransformerDecoderExtension):
    """The first head of a layer, whose log-probabilities the loss reads."""

    option = "--target-supervised-layer"
    column = TARGET_DEPREL
    scorer_name = SCORER
    structures = (TARGET_DEPENDENCIES,)

    def __init__(self, options: DependencyHeadOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        self.supervised = layer_from_bottom(
            self.option, self.options.target_supervised_layer, stack.layers, "decoder"
        )
        refuse_together(
            self.option, stack.cfg,
            "decoder_layerdrop", "cross_self_attention", "decoder_xformers_att_config",
            "base_layers",
        )  # fmt: skip

        self.relations = self.relations_of(options)
        if self.relations and options.target_dependency_shift != READ:
            raise UserError(
                "--dependency-labels labels words that the decoder has read: give "
                f"--target-dependency-shift {READ}, or leave --dependency-labels out"
            )
        self.learns: tuple[AnnotationKind, ...] = (TARGET_HEADS, *self.labels)

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The head of the supervised layer."""
        return {0: "parents"} if layer == self.supervised else {}

    def scorer(self, layer: int) -> HeadScorer | None:
        """The biaffine form of the head."""
        if layer != self.supervised or self.options.dependency_scorer != BIAFFINE:
            return None
        return BiaffineHead(0, self.stack.embed_dim // self.stack.heads)

    def extra(self, states: Sequence[Tensor], padding: Tensor, layers: nn.ModuleList) -> ModelExtra:
        """Log-probabilities of the head of each word of the target, and what scores its label.

        Where words are read, row and column of a word are those of the next step, and the last
        column is that of the first step, which reads EOS. Rows of EOS and pads mean nothing.

        Args:
            states: T×B×C, the input of the lowest layer and the output of each.
            padding: B×T, True = pad.

        Returns:
            B×T×T in float32 at least, −inf where a head comes later.
        """
        layer: Any = layers[self.supervised]
        x = states[self.supervised]
        if layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        future = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
        closed = future | padding.unsqueeze(1)
        closed.diagonal(dim1=1, dim2=2).fill_(False)  # the rows of pads need an open column
        steps = first_heads(layer.self_attn, x, 1, closed).squeeze(1)
        if self.options.target_dependency_shift == READ:  # not where it is predicted
            steps = steps.roll((-1, -1), (1, 2))
        if not self.relations:
            return {TARGET_PARENTS: steps}
        return {TARGET_PARENTS: steps, TARGET_ARC_LABELS: self.labeller(x).earlier()}
