"""The named architectures (`--arch`): a method's features in each of the usual sizes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from fairseq.models import register_model_architecture
from fairseq.models.transformer import (
    base_architecture,
    transformer_iwslt_de_en,
    transformer_wmt_en_de_big,
)

import syntax_nmt.models.syntax_transformer  # noqa: F401  presets name a registered model


def tiny_architecture(args: Namespace) -> None:
    """A size that trains on a CPU in minutes: width 64, two pre-norm layers in each half.

    Args:
        args: the options, whose missing values are filled in.
    """
    args.encoder_embed_dim = getattr(args, "encoder_embed_dim", 64)
    args.encoder_ffn_embed_dim = getattr(args, "encoder_ffn_embed_dim", 256)
    args.encoder_layers = getattr(args, "encoder_layers", 2)
    args.encoder_attention_heads = getattr(args, "encoder_attention_heads", 4)
    args.encoder_normalize_before = getattr(args, "encoder_normalize_before", True)
    args.decoder_layers = getattr(args, "decoder_layers", 2)
    args.decoder_attention_heads = getattr(args, "decoder_attention_heads", 4)
    args.decoder_normalize_before = getattr(args, "decoder_normalize_before", True)
    base_architecture(args)


SIZES: dict[str, Callable[[Namespace], None]] = {
    "": base_architecture,
    "_tiny": tiny_architecture,
    "_iwslt_de_en": transformer_iwslt_de_en,
    "_wmt_en_de": base_architecture,
    "_wmt_en_de_big": transformer_wmt_en_de_big,
}


def _register_transformer(
    name: str, sizes: Mapping[str, Callable[[Namespace], None]] = SIZES, **features: Any
) -> None:
    """Registers `name` in every size; `features` are defaults that the command line overrides."""

    def preset(size: Callable[[Namespace], None]) -> Callable[[Namespace], None]:
        def fill_in(args: Namespace) -> None:
            for option, value in features.items():
                setattr(args, option, getattr(args, option, value))
            size(args)

        return fill_in

    for suffix, size in sizes.items():
        register_model_architecture("syntax_transformer", name + suffix)(preset(size))


def _phrase_architecture(size: Callable[[Namespace], None]) -> Callable[[Namespace], None]:
    """A size whose attentive combinations have a hidden layer three times as wide as the encoder.

    This width accounts for the 40.9 M parameters that the first step of the paper's Table 2 adds:
    12 layers × (4 C² + 3 C · 3 C). It is inferred; the paper does not state it.
    """

    def fill_in(args: Namespace) -> None:
        size(args)
        width = 3 * args.encoder_embed_dim
        args.phrase_combine_dim = getattr(args, "phrase_combine_dim", width)

    return fill_in


_register_transformer("syntax_transformer")
_register_transformer("dependency_transformer", supervised_layer=-1)
_register_transformer(
    "phrase_transformer",
    {suffix: _phrase_architecture(size) for suffix, size in SIZES.items()},
    phrase_segmentation="ngram",
    phrase_attention=True,
    transparent_attention=True,
)
_register_transformer("latent_phrase_transformer", latent_phrase_layers=2)
_register_transformer("pascal_transformer", parent_scaled_layer=0)
