"""The named architectures (`--arch`) of mixed models, in the sizes of the families."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from fairseq.models import register_model_architecture

import syntax_nmt.models.syntax_hybrid  # noqa: F401  presets name a registered model
from syntax_nmt.models.family_options import (
    DECODER,
    ENCODER,
    RNN,
    TRANSFORMER,
    halves_of,
    options_of,
)
from syntax_nmt.models.presets import SIZES
from syntax_nmt.models.rnn_presets import SIZES as RNN_SIZES

# Of an RNN decoder on a Transformer encoder; its embeddings are as wide as those.
_RNN_DECODER: dict[str, dict[str, Any]] = {
    "": {"decoder_layers": 1},
    "_tiny": {"decoder_layers": 1, "decoder_hidden_size": 128},
}


def _register(size: str) -> None:
    """Registers a size; the command line overrides what it fills in."""

    def fill_in(args: Any) -> None:
        given = vars(args) if isinstance(args, Namespace) else dict(args)
        families = {
            ENCODER: str(given.get("encoder_family", TRANSFORMER)),
            DECODER: str(given.get("decoder_family", RNN)),
        }
        chosen = {f"{half}_family": family for half, family in families.items()}
        if set(families.values()) == {RNN}:
            values = {**RNN_SIZES[size], **chosen, **given}
        else:
            more = _RNN_DECODER[size] if families[DECODER] == RNN else {}
            filled = Namespace(**{**more, **chosen, **given})
            SIZES[size](filled)
            values = vars(filled)
        for option, value in values.items():
            # A half that is no Transformer takes no preset of its options, only what the user gave.
            if (
                option in given
                or option not in options_of(TRANSFORMER)
                or any(families[half] == TRANSFORMER for half in halves_of(option))
            ):
                setattr(args, option, value)

    register_model_architecture("syntax_hybrid", "syntax_hybrid" + size)(fill_in)


for _size in _RNN_DECODER:
    _register(_size)
