"""`syntax-nmt plot distances`: syntactic distances of a model with latent phrases."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.arguments import add_numbers, natural_int
from syntax_nmt.backbone.structures import SOURCE_DISTANCES, TARGET_DISTANCES, StructureLayers
from syntax_nmt.commands.plots.model_sentence import (
    ModelSentence,
    add_model_sentence_arguments,
    chosen_heads,
    model_sentence,
)
from syntax_nmt.errors import errors_of

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure

_HALVES = {"source": "encoder", "target": "decoder"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_model_sentence_arguments(parser)
    group = parser.add_argument_group("which distances")
    add_numbers(
        group,
        natural_int,
        layer=(
            0,
            "layer of the encoder, and of the decoder if there is --target, as far as they have "
            "distances, counted from 0, the lowest",
        ),
        head="one head, counted from 0 (default: all, below their mean, from which `syntax-nmt "
        "trees` makes trees)",
    )


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: options, the model or the files cannot be used.
    """
    from syntax_nmt.inference.extraction.model_distances import check_model, layers_with_distances
    from syntax_nmt.pictures.plots.distance_bars import TokenDistances, draw_distances

    sentence = model_sentence(args)
    sides = {"source": sentence.source}
    if args.target:
        sides["target"] = sentence.target
    sides = {
        name: side
        for name, side in sides.items()
        if layers_with_distances(sentence.decoder.model, _HALVES[name])
    }
    with errors_of(args.path):
        for name in sides or ["source"]:
            check_model(sentence.decoder.model, args.layer, _HALVES[name])
    found = _distances(sentence, args.layer)

    return draw_distances(
        [
            TokenDistances(name, side.labels(), side.opens_word, _rows(found[name], args.head))
            for name, side in sides.items()
        ],
        args.title,
    )


def _distances(sentence: ModelSentence, layer: int) -> dict[str, np.ndarray]:
    """The distances of each side that has some, heads × pieces.

    Position 0 of the decoder reads EOS, and each position the piece before the one it predicts.
    """
    decoder, wanted = sentence.decoder, StructureLayers((layer,), (layer,))
    (batch,) = decoder.batches([sentence.pair], max_tokens=1)
    _, extra = decoder.forward(batch, features_only=True, structures=wanted)
    pieces = {"source": (SOURCE_DISTANCES, slice(-1)), "target": (TARGET_DISTANCES, slice(1, None))}
    return {
        side: extra[name][0][0].float().cpu().numpy()[:, read]
        for side, (name, read) in pieces.items()
        if name in extra
    }


def _rows(distances: np.ndarray, head: int | None) -> dict[str, np.ndarray]:
    rows = {f"head {each}": distances[each] for each in chosen_heads(head, len(distances))}
    return {"mean": distances.mean(axis=0), **rows} if head is None else rows
