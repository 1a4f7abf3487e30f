"""The layers of a Transformer encoder whose logits depend on distances in the tree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.transformer_extension import (
    LayerModifier,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_distance.distances import DistanceChange
from syntax_nmt.methods.tree_distance.options import NORMAL, TreeDistanceOptions
from syntax_nmt.option_checks import check_dropouts, lowest_layers, refuse_together

_NORMAL_LAYERS = 3


class TreeDistances(TransformerEncoderExtension):
    """Changes the logits of the lowest layers by the distance of two words in the tree."""

    option = "--tree-distance"
    reads = (HEADS,)

    def __init__(self, options: TreeDistanceOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        refuse_together(
            "--tree-distance", stack.cfg, "encoder_layerdrop", "encoder_xformers_att_config"
        )
        if not 0 <= options.tree_distance_strength < math.inf:  # NaN included
            raise UserError(
                f"--tree-distance-strength {options.tree_distance_strength}: give 0 or more; the "
                "published one is 1"
            )
        if not 0 < options.tree_distance_variance < math.inf:
            raise UserError(
                f"--tree-distance-variance {options.tree_distance_variance}: give more than 0; the "
                "published one is 1"
            )
        check_dropouts(options, ["tree_distance_ignoring"])
        usual = _NORMAL_LAYERS if options.tree_distance == NORMAL else stack.layers
        given = options.tree_distance_layers
        self.layers = lowest_layers(
            "--tree-distance-layers", given, usual, stack.layers, stack.name
        )

    def build(self, output_dim: int) -> Mapping[str, nn.Module]:
        """What computes changes, without parameters."""
        options = self.options
        self.change = DistanceChange(
            options.tree_distance,
            self.stack.heads,
            options.tree_distance_strength,
            options.tree_distance_variance,
            options.tree_distance_ignoring,
        )
        return {"tree_distance": self.change}

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The change of the lowest layers; none if its strength is 0.

        Args:
            like: gives the type.
        """
        if not self.change.strength:
            return []
        heads = HEADS.tensor_in(source.annotation)
        return [LayerModifier(self.layers, self.change(heads, source.spans.first, like))]
