"""The layer with parent-scaled heads in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.extension import (
    LayerModifier,
    Source,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.parent_scaled.options import ParentScaledOptions
from syntax_nmt.methods.parent_scaled.parent_scaling import ParentScaling
from syntax_nmt.option_checks import layer_from_bottom, refuse_changed, refuse_together

_OF_THE_LAYER = (
    "parent_scaled_heads", "parent_scaled_variance", "parent_ignoring", "parent_ignoring_per_head",
)  # fmt: skip


class ParentScaledHeads(TransformerEncoderExtension):
    """Multiplies the logits of one layer by a density around each token's parent.

    Args:
        layer: counted from the lowest.
        scaling: computes the densities.
        spans: the words of the tokens.
    """

    option = "--parent-scaled-layer"
    reads = (HEADS,)

    def __init__(self, layer: int, scaling: ParentScaling, spans: WordSpans) -> None:
        self.scaled_layer, self.scaling, self.spans = layer, scaling, spans

    @classmethod
    def of(cls, options: ParentScaledOptions, stack: TransformerStack) -> ParentScaledHeads | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        if options.parent_scaled_layer is None:
            refuse_changed(options, _OF_THE_LAYER, "--parent-scaled-layer, such as 0")
            return None
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
        layer = layer_from_bottom(
            "--parent-scaled-layer", options.parent_scaled_layer, stack.layers, "encoder"
        )
        scaling = ParentScaling(
            stack.heads,
            heads or stack.heads,
            options.parent_scaled_variance,
            options.parent_ignoring,
            options.parent_ignoring_per_head,
        )
        return cls(layer, scaling, WordSpans(stack.dictionary))

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
        """Both modules; neither has parameters."""
        return {"parent_scaling": self.scaling, "word_spans": self.spans}

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The factor of the scaled layer.

        Args:
            like: gives the type.
        """
        heads, spans = HEADS.tensor_in(source.annotation), self.spans(source.tokens)
        factor = self.scaling(heads, spans, like)
        return [LayerModifier((self.scaled_layer,), AttentionModifier(factor=factor))]
