"""Syntactic distances from a trained model: one for each piece of a sentence, of its encoder or,
by forced decoding, of its decoder (Harada and Watanabe, 2021)."""

from typing import Any

import numpy as np
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.backbone.structures import (
    CONSTITUENTS,
    SOURCE_DISTANCES,
    TARGET_DISTANCES,
    StructureLayers,
)
from syntax_nmt.errors import UserError
from syntax_nmt.inference.extraction.model_answers import EncoderAnswers, ForcedAnswers
from syntax_nmt.inference.source_text import SourceText
from syntax_nmt.methods import how_to_get
from syntax_nmt.task.source_parser import SourceParser


def encoder_distances(
    model: BaseFairseqModel, text: SourceText, parser: SourceParser | None = None, *, layer: int
) -> EncoderAnswers:
    """Gets the distance of the gap before each piece.

    Args:
        model: in evaluation mode.
        layer: of the encoder, counted from the lowest, which is 0.

    Raises:
        UserError: the model has no distances there, or reads parses, and there is no parser.
    """

    def read(out: Any) -> np.ndarray:
        return mean_over_heads(out[SOURCE_DISTANCES][0])

    check_model(model, layer, "encoder")
    structures = StructureLayers(source_distances=(layer,))
    return EncoderAnswers(model, text, read, parser, structures=structures)


def decoder_distances(
    model: BaseFairseqModel,
    task: FairseqTask,
    source: SourceText,
    target: SourceText,
    parser: SourceParser | None = None,
    *,
    layer: int,
) -> ForcedAnswers:
    """Gets the distance of the gap before each piece of a translation, by forced decoding.

    Position 0 of the decoder reads EOS and position t the piece before the one it predicts, so the
    gap before the target's piece p is the one before position p + 1.

    Args:
        model: in evaluation mode.
        target: the translations, whose distances are requested.
        layer: of the decoder, counted from the lowest, which is 0.

    Raises:
        UserError: the model has no distances there, or reads parses, and there is no parser.
    """

    def read(extra: Any, row: int, words: int) -> np.ndarray:
        return mean_over_heads(extra[TARGET_DISTANCES][0][row, None])[0, 1 : words + 1]

    check_model(model, layer, "decoder")
    structures = StructureLayers(target_distances=(layer,))
    return ForcedAnswers(model, task, source, target, read, parser, structures=structures)


def mean_over_heads(distances: Tensor) -> np.ndarray:
    """B×T out of B×H×T."""
    return distances.float().mean(dim=1).cpu().numpy()


def layers_with_distances(model: BaseFairseqModel, stack: str) -> int:
    """The number of lowest layers with distances.

    Args:
        model: any model; only Transformers have any.
        stack: `encoder` or `decoder`.
    """
    return int(getattr(getattr(model, stack, None), "distance_layers", 0))


def check_model(model: BaseFairseqModel, layer: int, stack: str) -> None:
    """Refuses a model that has no distances in a layer.

    Args:
        layer: counted from the lowest, which is 0.
        stack: `encoder` or `decoder`.

    Raises:
        UserError: says what the model has.
    """
    layers = layers_with_distances(model, stack)
    if not layers:
        raise UserError(
            f"the model's {stack} has no syntactic distances: train one with "
            f"{how_to_get(CONSTITUENTS)}"
        )
    if not 0 <= layer < layers:
        raise UserError(
            f"--layer {layer}: the model's {stack} has distances in its {layers} lowest layers, "
            f"0 to {layers - 1}"
        )
