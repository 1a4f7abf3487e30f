"""What our decoders are told before a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fairseq.sequence_generator import SequenceGeneratorWithAlignment
from torch import nn


@contextmanager
def prepared_for(generator: Any, models: Sequence[nn.Module]) -> Iterator[None]:
    """Within, our decoders know the beam size and whether attention weights are wanted.

    Args:
        generator: fairseq's generator or scorer.
        models: the ensemble.
    """
    beam_size = getattr(generator, "beam_size", 1)
    aligns = isinstance(generator, SequenceGeneratorWithAlignment)
    need_attn = aligns or getattr(generator, "compute_alignment", False)  # fairseq's scorer
    every_decoder: list[Any] = [getattr(model, "decoder", None) for model in models]
    decoders = [decoder for decoder in every_decoder if hasattr(decoder, "prepare_for_search")]
    for decoder in decoders:
        decoder.prepare_for_search(beam_size, need_attn)
    try:
        yield
    finally:
        for decoder in decoders:
            decoder.prepare_for_search(1, False)
