"""Attention of target to source pieces, by forced decoding of given translations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.inference.forced_decoding import ForcedBatch, ForcedDecoder
from syntax_nmt.option_checks import layer_from_bottom
from syntax_nmt.scoring.parallel_text import TokenPair

PENULTIMATE = -2


class CrossAttention:
    """The cross-attention weights of one decoder layer, before dropout, as means over heads.

    For a recurrent decoder it is the only attention.

    Args:
        layer: counted from 0 at the bottom, or from −1 at the top; None = the penultimate one
            (Garg et al., 2019), or the only one.
        heads: number of heads, the first ones, to average over; None = all.

    Raises:
        UserError: there is no such layer, or there are fewer heads.
    """

    def __init__(
        self, decoder: ForcedDecoder, layer: int | None = None, heads: int | None = None
    ) -> None:
        self.decoder = decoder
        self.options: dict[str, Any] = {}
        # Transformers of fairseq and models of this package take these arguments; recurrent
        # decoders have no layers.
        takes = inspect.signature(decoder.model.forward).parameters
        if "alignment_layer" not in takes or not hasattr(decoder.model.decoder, "layers"):
            if layer is not None or heads is not None:
                option = "--layer" if layer is not None else "--heads"
                raise UserError(f"{option} is about Transformers: the model's attention is one")
            return
        layers = decoder.model.decoder.layers
        index = layer_index(layer, len(layers))
        if layers[index].encoder_attn is None:
            raise UserError("the model's decoder has no cross-attention (--no-cross-attention)")
        there = layers[index].encoder_attn.num_heads
        if heads is not None and heads > there:
            raise UserError(f"--heads {heads}: the decoder's attention has {there} heads")
        self.options = {
            "alignment_layer": index,
            "alignment_heads": heads,
            "features_only": True,  # no logits
        }

    def matrices(
        self, pairs: Sequence[TokenPair], max_tokens: int, batch_size: int | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The weights of each pair, as (its index, T×S matrix), in any order.

        Row t is the attention while the decoder predicts target piece t. The row and the column of
        EOS are omitted, so rows need not add up to 1.

        Args:
            pairs: the pairs; those too long for the model are skipped.
            max_tokens: as of :meth:`ForcedDecoder.batches`.
        """
        for batch in self.decoder.batches(pairs, max_tokens, batch_size):
            weights = self._weights(batch)
            for row, index in enumerate(batch.indices):
                real = weights[row, : batch.targets[row] - 1, : batch.sources[row] - 1]
                yield index, real

    def _weights(self, batch: ForcedBatch) -> np.ndarray:
        """B×T×S, padding on the right."""
        _, extra = self.decoder.forward(batch, **self.options)
        weights = extra["attn"] if isinstance(extra, dict) else extra
        if isinstance(weights, (list, tuple)):
            weights = weights[0]
        if weights is None:
            raise UserError("the model gives no attention weights")
        return weights.float().cpu().numpy()


def layer_index(layer: int | None, layers: int, half: str = "decoder") -> int:
    """A layer's index from 0; None = the penultimate one, or the only one.

    Args:
        layers: how many there are.

    Raises:
        UserError: there is no such layer.
    """
    if layer is None:
        return max(layers + PENULTIMATE, 0)
    return layer_from_bottom("--layer", layer, layers, half)
