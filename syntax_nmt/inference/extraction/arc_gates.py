"""The gates of arcs in a model whose encoder passes messages along a tree."""

from dataclasses import dataclass
from typing import Any

import torch

from syntax_nmt.backbone.structures import ARC_GATES
from syntax_nmt.errors import UserError
from syntax_nmt.inference.forced_decoding import ForcedDecoder
from syntax_nmt.methods import how_to_get
from syntax_nmt.scoring.parallel_text import TokenPair


@dataclass(frozen=True)
class ArcGates:
    """The gates of one layer, of one sentence without its EOS.

    Attributes:
        heads: of each piece; its own if it has none.
        gates: by direction, of each piece's arc to its head; 0 where it has none.
    """

    heads: tuple[int, ...]
    gates: dict[str, tuple[float, ...]]


@torch.no_grad()
def arc_gates(decoder: ForcedDecoder, pair: TokenPair, layer: int = -1) -> ArcGates:
    """Encodes a sentence, and takes the gates of a layer.

    Args:
        pair: the sentence; its translation may be empty.
        layer: of those with gates, counted from 0 at the bottom or −1 at the top.

    Raises:
        UserError: the model has no such layer.
    """
    encoder: Any = decoder.model.encoder
    layers = [module for module in encoder.modules() if hasattr(module, "gates")]
    if ARC_GATES not in getattr(encoder, "structures", ()):
        raise UserError(f"the model has no gates of arcs: train one with {how_to_get(ARC_GATES)}")
    if not -len(layers) <= layer < len(layers):
        raise UserError(
            f"--layer {layer}: {len(layers)} layers have gates: give a number from {-len(layers)} "
            f"to {len(layers) - 1}"
        )
    read: list[Any] = []
    hook = layers[layer].register_forward_pre_hook(lambda module, inputs: read.append(inputs))
    (batch,) = decoder.batches([pair], max_tokens=1)
    try:
        decoder.forward(batch, features_only=True)
    finally:
        hook.remove()
    states, arcs, *_ = read[0]
    pieces = len(pair.source)
    found = layers[layer].gates(states, arcs)
    return ArcGates(
        tuple(arcs.heads[0, :pieces].tolist()),
        {way: tuple(gates[0, :pieces].tolist()) for way, gates in found.items()},
    )
