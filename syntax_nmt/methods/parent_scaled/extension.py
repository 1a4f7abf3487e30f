"""The layer with parent-scaled heads in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.transformer_extension import (
    LayerModifier,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.parent_scaled.options import ParentScaledOptions
from syntax_nmt.methods.parent_scaled.parent_scaling import ParentScaling
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


class ParentScaledHeads(TransformerEncoderExtension):
    """Multiplies the logits of one layer by a density around each token's parent."""

    option = "--parent-scaled-layer"
    reads = (HEADS,)

    def __init__(self, options: ParentScaledOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        refuse_together(
            "--parent-scaled-layer", stack.cfg, "encoder_layerdrop", "encoder_xformers_att_config"
        )
        heads = options.parent_scaled_heads
        if heads is not None and not 1 <= heads <= stack.heads:
            raise UserError(
                f"--parent-scaled-heads {heads}: the encoder's layers have {stack.heads} heads; "
                f"give a number from 1 to {stack.heads}"
            )
        if not options.parent_scaled_variance > 0:  # NaN included
            raise UserError(
                f"--parent-scaled-variance {options.parent_scaled_variance}: give more than 0; the "
                "paper's is 1"
            )
        if not 0 <= options.parent_ignoring < 1:
            raise UserError(
                f"--parent-ignoring {options.parent_ignoring}: give a probability from 0 to less "
                "than 1"
            )
        self.scaled_layer = layer_from_bottom(
            "--parent-scaled-layer", self.options.parent_scaled_layer, stack.layers, "encoder"
        )

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """What scales, without parameters."""
        options, heads = self.options, self.stack.heads
        self.scaling = ParentScaling(
            heads,
            options.parent_scaled_heads or heads,
            options.parent_scaled_variance,
            options.parent_ignoring,
            options.parent_ignoring_per_head,
        )
        return {"parent_scaling": self.scaling}

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The factor of the scaled layer.

        Args:
            like: gives the type.
        """
        factor = self.scaling(HEADS.tensor_in(source.annotation), source.spans, like)
        return [LayerModifier((self.scaled_layer,), AttentionModifier(factor=factor))]
