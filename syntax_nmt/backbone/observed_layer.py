"""An extension that reads what the self-attention of one encoder layer reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from syntax_nmt.backbone.transformer_extension import TransformerEncoderExtension


class ObservedLayer(TransformerEncoderExtension):
    """Gives the input of a layer's self-attention again after a forward pass.

    Attributes:
        observed: the layer, counted from the lowest.
    """

    observed: int

    def outputs(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        arguments: Mapping[str, Any],
        encoder: nn.Module,
    ) -> None:
        """Adds the input of the self-attention, where another sublayer comes before it.

        Args:
            layers: what each layer returned.
            arguments: not read.
            encoder: not read.
        """
        if layers and layers[self.observed].attention_input is not None:
            out[self._name] = [layers[self.observed].attention_input]

    def attention_input(
        self, encoder_out: dict[str, list[Tensor]], layers: nn.ModuleList
    ) -> Tensor:
        """What the self-attention read, S×B×C.

        Args:
            encoder_out: of a forward pass with all states.
        """
        layer: Any = layers[self.observed]
        (x,) = encoder_out.get(self._name) or [encoder_out["encoder_states"][self.observed]]
        normalized: Tensor = layer.self_attn_layer_norm(x) if layer.normalize_before else x
        return normalized

    @property
    def _name(self) -> str:
        return f"attention_input.{self.observed}"
