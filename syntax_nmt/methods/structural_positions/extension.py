"""Structural positions in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.arguments import named_in
from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.transformer_extension import (
    LayerModifier,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.structural_positions.options import (
    ABSOLUTE,
    POSITIONS,
    RELATIVE,
    TANH,
    StructuralPositionOptions,
)
from syntax_nmt.methods.structural_positions.positions import StructuralBias, StructuralEmbedding
from syntax_nmt.methods.structural_positions.structure import depths, relations
from syntax_nmt.option_checks import refuse_together


class StructuralPositions(TransformerEncoderExtension):
    """Depths beside positions, relations in the logits of every layer, or both.

    Attributes:
        embedding: of depths; None = there are no absolute positions.
        bias: of relations; None = there are no relative positions.
    """

    option = "--structural-positions"
    reads = (HEADS,)

    def __init__(self, options: StructuralPositionOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        wanted = named_in(self.option, self.options.structural_positions, POSITIONS, "position")
        self.embedding = self.bias = None
        # In this place they draw their random numbers before the layers.
        if ABSOLUTE in wanted:
            self.embedding = _embedding(options.structural_fusion, stack)
        if RELATIVE in wanted:
            self.bias = _bias(options.structural_clip, stack)

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """The tables that the options ask for."""
        found = {"structural_embedding": self.embedding, "structural_bias": self.bias}
        return {name: module for name, module in found.items() if module is not None}

    def positions(self, source: Source, like: Tensor) -> Tensor | float:
        """What depths add where fairseq adds positions.

        Args:
            like: gives the type.
        """
        if self.embedding is None:
            return 0.0
        heads = HEADS.tensor_in(source.annotation)
        deep = depths(heads, source.spans.first)
        return self.embedding(source.tokens, deep, heads.ge(0), like)

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The bias of each layer.

        Args:
            like: not read.
        """
        if self.bias is None:
            return []
        heads = HEADS.tensor_in(source.annotation)
        related = relations(heads, source.spans.first, self.options.structural_rule)
        found = self.bias(related, heads.ge(0))
        return [LayerModifier((i,), AttentionModifier(each)) for i, each in enumerate(found)]


def _embedding(fusion: str, stack: TransformerStack) -> StructuralEmbedding:
    cfg = stack.cfg
    if fusion == TANH and (cfg.encoder.learned_pos or cfg.no_token_positional_embeddings):
        raise UserError(
            "--structural-fusion tanh fuses depths with positions that are sinusoids: leave "
            "--encoder-learned-pos and --no-token-positional-embeddings out, or give "
            "--structural-fusion add"
        )
    pad = stack.dictionary.pad()
    return StructuralEmbedding(stack.embed_dim, fusion, int(cfg.max_source_positions), pad)


def _bias(clip: int, stack: TransformerStack) -> StructuralBias:
    refuse_together(
        "--structural-positions relative",
        stack.cfg,
        "encoder_layerdrop",
        "encoder_xformers_att_config",
    )
    if clip < 1:
        raise UserError(f"--structural-clip {clip}: give 1 or more")
    return StructuralBias(stack.layers, stack.heads, clip)
