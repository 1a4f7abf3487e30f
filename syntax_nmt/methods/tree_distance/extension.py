"""The layers of a Transformer encoder whose logits depend on distances in the tree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.extension import (
    LayerModifier,
    Source,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_distance.distances import DistanceChange
from syntax_nmt.methods.tree_distance.options import FORMS, NORMAL, TreeDistanceOptions
from syntax_nmt.option_checks import check_choice, check_dropouts, refuse_changed, refuse_together

_NORMAL_LAYERS = 3
_OF_THE_DISTANCE = (
    "tree_distance_strength", "tree_distance_variance", "tree_distance_layers",
    "tree_distance_ignoring",
)  # fmt: skip


class TreeDistances(TransformerEncoderExtension):
    """Changes the logits of the lowest layers by the distance of two words in the tree.

    Args:
        layers: how many.
        change: computes bias or factor.
        spans: the words of the tokens.
    """

    option = "--tree-distance"
    reads = (HEADS,)

    def __init__(self, layers: int, change: DistanceChange, spans: WordSpans) -> None:
        self.layers, self.change, self.spans = range(layers), change, spans

    @classmethod
    def of(cls, options: TreeDistanceOptions, stack: TransformerStack) -> TreeDistances | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: options that contradict each other.
        """
        if options.tree_distance is None:
            refuse_changed(options, _OF_THE_DISTANCE, "--tree-distance, such as normal")
            return None
        check_choice("tree_distance", options.tree_distance, FORMS)
        form, layers = str(options.tree_distance), options.tree_distance_layers
        refuse_together(
            "--tree-distance", stack.cfg, "encoder_layerdrop", "encoder_xformers_att_config"
        )
        if form != NORMAL:
            refuse_changed(options, ["tree_distance_variance"], "--tree-distance normal")
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
        if layers is None:
            layers = min(_NORMAL_LAYERS, stack.layers) if form == NORMAL else stack.layers
        elif not 1 <= layers <= stack.layers:
            raise UserError(
                f"--tree-distance-layers {layers}: the encoder has {stack.layers} layers; give a "
                f"number from 1 to {stack.layers}"
            )
        change = DistanceChange(
            form,
            stack.heads,
            options.tree_distance_strength,
            options.tree_distance_variance,
            options.tree_distance_ignoring,
        )
        return cls(layers, change, WordSpans(stack.dictionary))

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
        """Both modules; neither has parameters."""
        return {"tree_distance": self.change, "tree_distance_spans": self.spans}

    def changes(self, source: Source, like: Tensor) -> Iterable[LayerModifier]:
        """The change of the lowest layers; none if its strength is 0.

        Args:
            like: gives the type.
        """
        if not self.change.strength:
            return []
        heads, first = HEADS.tensor_in(source.annotation), self.spans(source.tokens).first
        return [LayerModifier(self.layers, self.change(heads, first, like))]
