"""The layer with supervised heads in a Transformer encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from syntax_nmt.backbone.feature import TransformerEncoderFeature, TransformerHalf
from syntax_nmt.backbone.structures import DEPENDENCIES, PARENTS
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.dependency_heads.loss import (
    CHILD_HEAD,
    PARENT_HEAD,
    SUPERVISED,
    SUPERVISED_HEADS,
    supervised_head_log_probabilities,
)
from syntax_nmt.methods.dependency_heads.options import DependencyHeadOptions
from syntax_nmt.option_checks import layer_from_bottom, refuse_together

_INPUT = "supervised_input"


class SupervisedHeads(TransformerEncoderFeature):
    """Two ordinary heads of a layer, whose log-probabilities the loss reads.

    Args:
        layer: counted from the lowest.
    """

    option = "--supervised-layer"
    learns = (HEADS,)
    structures = (DEPENDENCIES,)

    def __init__(self, layer: int) -> None:
        self.supervised = layer

    @classmethod
    def of(cls, options: DependencyHeadOptions, half: TransformerHalf) -> SupervisedHeads | None:
        """The feature that the options describe; None = it is off.

        Raises:
            UserError: there is no such layer, it has too few heads, or another option excludes it.
        """
        if options.supervised_layer is None:
            return None
        layer = layer_from_bottom(
            "--supervised-layer", options.supervised_layer, half.layers, "encoder"
        )
        if half.heads < SUPERVISED_HEADS:
            raise UserError(
                f"--supervised-layer needs a child head and a parent head, but "
                f"--encoder-attention-heads is {half.heads}"
            )
        refuse_together("--supervised-layer", half.cfg, "encoder_layerdrop")
        return cls(layer)

    def attention_heads(self, layer: int) -> Mapping[int, str]:
        """The two heads of the supervised layer."""
        if layer != self.supervised:
            return {}
        return {CHILD_HEAD: "children", PARENT_HEAD: "parents"}

    def outputs(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        arguments: Mapping[str, Any],
        encoder: nn.Module,
    ) -> None:
        """Adds the input of the layer's self-attention, where another sublayer comes before it.

        Args:
            layers: what each layer returned.
            arguments: not read.
            encoder: not read.
        """
        if layers and layers[self.supervised].attention_input is not None:
            out[_INPUT] = [layers[self.supervised].attention_input]

    def extra(self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList) -> dict[str, Any]:
        """Log-probabilities of the child and the parent head, B×2×S×S in float32 at least.

        Args:
            encoder_out: of a forward pass with all states.
        """
        layer: Any = layers[self.supervised]
        (x,) = encoder_out.get(_INPUT) or [encoder_out["encoder_states"][self.supervised]]  # S×B×C
        if layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        padding = encoder_out["encoder_padding_mask"][0]
        heads = supervised_head_log_probabilities(layer.self_attn, x, padding)
        return {SUPERVISED: heads, PARENTS: heads[:, PARENT_HEAD]}
