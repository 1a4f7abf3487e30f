"""The layer with a supervised head in a Transformer decoder (Deguchi et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.extension import TransformerDecoderExtension, TransformerStack
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.structures import TARGET_DEPENDENCIES, TARGET_PARENTS
from syntax_nmt.data.annotation import TARGET_HEADS
from syntax_nmt.data.batch import ModelExtra
from syntax_nmt.methods.dependency_heads.biaffine import BiaffineHead
from syntax_nmt.methods.dependency_heads.extension import is_biaffine
from syntax_nmt.methods.dependency_heads.options import READ, SHIFTS, DependencyHeadOptions
from syntax_nmt.methods.parent_heads import first_heads
from syntax_nmt.option_checks import (
    check_choice,
    layer_from_bottom,
    refuse_changed,
    refuse_together,
)


class TargetHead(TransformerDecoderExtension):
    """The first head of a layer, whose log-probabilities the loss reads.

    Args:
        layer: counted from the lowest.
        reads_word: a word's head is learned where the word is read, not where it is predicted.
        biaffine: whether the head has a matrix and a vector of its own.
    """

    option = "--target-supervised-layer"
    learns = (TARGET_HEADS,)
    structures = (TARGET_DEPENDENCIES,)

    def __init__(
        self, layer: int, reads_word: bool, biaffine: bool, stack: TransformerStack
    ) -> None:
        self.supervised, self.reads_word = layer, reads_word
        self.biaffine, self.stack = biaffine, stack

    @classmethod
    def of(cls, options: DependencyHeadOptions, stack: TransformerStack) -> TargetHead | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: there is no such layer, or another option excludes it.
        """
        option = "--target-supervised-layer"
        if options.target_supervised_layer is None:
            refuse_changed(options, ["target_dependency_shift"], f"{option}, such as 0")
            return None
        check_choice("target_dependency_shift", options.target_dependency_shift, SHIFTS)
        layer = layer_from_bottom(option, options.target_supervised_layer, stack.layers, "decoder")
        refuse_together(
            option, stack.cfg,
            "decoder_layerdrop", "cross_self_attention", "decoder_xformers_att_config",
        )  # fmt: skip
        reads_word = str(options.target_dependency_shift) == READ
        return cls(layer, reads_word, is_biaffine(options), stack)

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The head of the supervised layer."""
        return {0: "parents"} if layer == self.supervised else {}

    def scorer(self, layer: int) -> HeadScorer | None:
        """The biaffine form of the head."""
        if layer != self.supervised or not self.biaffine:
            return None
        return BiaffineHead(0, self.stack.embed_dim // self.stack.heads)

    def extra(self, states: Sequence[Tensor], padding: Tensor, layers: nn.ModuleList) -> ModelExtra:
        """Log-probabilities of the head of each word of the target.

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
        return {TARGET_PARENTS: steps.roll((-1, -1), (1, 2)) if self.reads_word else steps}
