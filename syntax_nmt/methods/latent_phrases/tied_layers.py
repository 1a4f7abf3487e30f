"""The layers of a model that the synchronous constraint compares."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from syntax_nmt.backbone.structures import StructureLayers
from syntax_nmt.errors import UserError
from syntax_nmt.option_checks import layer_from_bottom, refuse_together


def tied_distances(model: nn.Module, layers: int) -> StructureLayers:
    """The lowest layers' distances and the top layers' cross-attention, bottom to top.

    Args:
        model: its encoder and decoder are Transformers.
        layers: how many.

    Raises:
        UserError: the model has no such layers, or another number of layers with distances.
    """
    source, target = _layer_counts(model)
    _check_number(layers, source, target)
    decoder: Any = model.decoder
    latent = decoder.distance_layers
    if latent == 0:
        raise UserError(
            "the model has no syntactic distances: train one with --arch "
            "latent_phrase_transformer or --latent-phrase-layers, or give --sync-loss attention"
        )
    if latent != layers:
        raise UserError(
            f"--sync-layers {layers}, but --latent-phrase-layers {latent}: each layer with "
            "distances is tied to one cross-attention, so give both the same number"
        )
    lowest = tuple(range(layers))
    return StructureLayers(
        source_distances=lowest,
        target_distances=lowest,
        cross_attention=tuple(range(target - layers, target)),
    )


def tied_attention(
    model: nn.Module,
    layers: int,
    encoder_layers: Sequence[int],
    decoder_layers: Sequence[int],
    cross_layers: Sequence[int],
) -> StructureLayers:
    """Self-attention of the lowest and cross-attention of the top layers, or of chosen ones.

    Args:
        model: its encoder and decoder are Transformers.
        layers: their number, if none are chosen.
        encoder_layers: chosen, counted from 0, the lowest, or from −1, the top.
        decoder_layers: the same.
        cross_layers: the same.

    Raises:
        UserError: the model has no such layers, or the choices do not go together.
    """
    source, target = _layer_counts(model)
    if not (encoder_layers and decoder_layers and cross_layers):
        _check_number(layers, source, target)
    lowest, top = range(layers), range(target - layers, target)

    def indices(chosen: Sequence[int], option: str, stack: str, there: int) -> tuple[int, ...]:
        return tuple(layer_from_bottom(option, layer, there, stack) for layer in chosen)

    encoder = indices(encoder_layers, "--sync-encoder-layers", "encoder", source)
    decoder = indices(decoder_layers, "--sync-decoder-layers", "decoder", target)
    cross = indices(cross_layers, "--sync-cross-layers", "decoder", target)
    tied = StructureLayers(
        source_attention=encoder or tuple(lowest),
        target_attention=decoder or tuple(lowest),
        cross_attention=cross or tuple(top),
    )
    counts = [len(tied.source_attention), len(tied.target_attention), len(tied.cross_attention)]
    if len(set(counts)) > 1:
        raise UserError(
            "--sync-encoder-layers, --sync-decoder-layers and --sync-cross-layers are tied one by "
            f"one, but they are {counts[0]}, {counts[1]} and {counts[2]}: give equally many"
        )
    return tied


def _layer_counts(model: nn.Module) -> tuple[int, int]:
    """The numbers of the model's encoder and decoder layers."""
    encoder: Any = getattr(model, "encoder", None)
    decoder: Any = getattr(model, "decoder", None)
    for name, stack in (("encoder", encoder), ("decoder", decoder)):
        if not (hasattr(stack, "distance_layers") and hasattr(stack, "num_layers")):
            raise UserError(
                "the synchronous constraint ties layers of a Transformer encoder to layers of a "
                f"Transformer decoder, and the model's {name} is not one of syntax_nmt's "
                "Transformers: give --arch latent_phrase_transformer (to syntax_hybrid "
                f"--{name}-family transformer), or leave --sync-weight out"
            )
    source, target = encoder.num_layers, decoder.num_layers
    refuse_together(
        "the synchronous constraint", decoder.cfg,
        "no_cross_attention", "cross_self_attention", "encoder_layerdrop", "decoder_layerdrop",
        "base_layers",
    )  # fmt: skip
    return source, target


def _check_number(layers: int, source: int, target: int) -> None:
    if not 1 <= layers <= min(source, target):
        raise UserError(
            f"--sync-layers {layers}: the encoder has {source} layers, the decoder {target}; "
            f"give a number from 1 to {min(source, target)}"
        )
