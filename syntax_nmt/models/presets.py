"""The named architectures (`--arch`): a method's features, or a paper's system, in several sizes.

A preset gives defaults to options; the command line overrides them.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from fairseq.models import register_model_architecture
from fairseq.models.transformer import (
    base_architecture,
    transformer_iwslt_de_en,
    transformer_wmt_en_de_big,
)

# Presets name registered models.
import syntax_nmt.models.syntax_hybrid
import syntax_nmt.models.syntax_rnn
import syntax_nmt.models.syntax_transformer  # noqa: F401
from syntax_nmt.arguments import DECODER, ENCODER
from syntax_nmt.backbone.readout import TANH
from syntax_nmt.methods.bi_scale.options import STEP
from syntax_nmt.models.family_options import halves_of, options_of
from syntax_nmt.models.options import RNN, TRANSFORMER

Preset = Callable[[Namespace], None]


def _preset(defaults: Mapping[str, Any], size: Preset | None = None) -> Preset:
    """Fills in options that the user has not given: these defaults, then those of the size."""

    def fill_in(args: Namespace) -> None:
        for option, value in defaults.items():
            setattr(args, option, getattr(args, option, value))
        if size is not None:
            size(args)

    return fill_in


# Trains on a CPU in minutes: width 64, two pre-norm layers in each half.
_TINY = {
    "encoder_embed_dim": 64,
    "encoder_ffn_embed_dim": 256,
    **{f"{half}_layers": 2 for half in (ENCODER, DECODER)},
    **{f"{half}_attention_heads": 4 for half in (ENCODER, DECODER)},
    **{f"{half}_normalize_before": True for half in (ENCODER, DECODER)},
}
SIZES: dict[str, Preset] = {
    "": base_architecture,
    "_tiny": _preset(_TINY, base_architecture),
    "_iwslt_de_en": transformer_iwslt_de_en,
    "_wmt_en_de": base_architecture,
    "_wmt_en_de_big": transformer_wmt_en_de_big,
}


def _register_transformer(name: str, sizes: Mapping[str, Preset] = SIZES, **features: Any) -> None:
    """Registers a Transformer with features in every size."""
    for suffix, size in sizes.items():
        preset = _preset(features, size)
        register_model_architecture("syntax_transformer", name + suffix)(preset)


def _phrase_architecture(size: Preset) -> Preset:
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

# Sizes of Zhang et al. (2018), Section 5.2: those of NIST Zh-En are the options' defaults.
RNN_SIZES: dict[str, dict[str, Any]] = {
    "": {},
    "_tiny": {"encoder_embed_dim": 128, "decoder_embed_dim": 128, "dropout": 0.1},
    "_nist_zh_en": {},
    "_wmt_en_de": {},
}

# The relation network of each size.
RELATION: dict[str, dict[str, Any]] = {
    "": {"relation_kernels": "1:128,3:256", "relation_hidden_dim": 256},
    "_tiny": {"relation_kernels": "3:32", "relation_hidden_dim": 32},
    "_nist_zh_en": {"relation_kernels": "1:128,3:256", "relation_hidden_dim": 256},
    "_wmt_en_de": {"relation_kernels": "3:96", "relation_hidden_dim": 128},
}

# Sizes of Zhou et al. (2017), Section 4, with the readout of the dl4mt tutorial: word vectors 600,
# everything else 1000.
_BI_SCALE: dict[str, Any] = {
    "encoder_embed_dim": 600,
    "encoder_hidden_size": 1000,
    "decoder_embed_dim": 600,
    "decoder_hidden_size": 1000,
    "decoder_out_embed_dim": 1000,
    "attention_dim": 1000,
    "readout": TANH,
}
BI_SCALE: dict[str, dict[str, Any]] = {
    "": _BI_SCALE,
    "_tiny": {**RNN_SIZES["_tiny"], "readout": TANH},
    "_nist_zh_en": _BI_SCALE,
    "_wmt_de_en": _BI_SCALE,
}


def _register_rnn(
    name: str, sizes: Mapping[str, Mapping[str, Any]] = RNN_SIZES, **features: Any
) -> None:
    """Registers an RNN system with features in every size."""
    for suffix, size in sizes.items():
        preset = _preset({**features, **size})
        register_model_architecture("syntax_rnn", name + suffix)(preset)


_register_rnn("rnn_search")
_register_rnn("rnn_search_cgru", conditional_gru=True)
_register_rnn(
    "relation_rnn",
    {suffix: {**size, **RELATION[suffix]} for suffix, size in RNN_SIZES.items()},
    conditional_gru=True,
)
# A context for every word: better validation than one for each chunk, over three seeds
# (examples/experiments/GAINS.md).
_register_rnn("bi_scale_rnn", BI_SCALE, conditional_gru=True, bi_scale=True, chunk_context=STEP)

# Of an RNN decoder on a Transformer encoder; its embeddings are as wide as those.
_RNN_DECODER: dict[str, dict[str, Any]] = {
    "": {"decoder_layers": 1},
    "_tiny": {"decoder_layers": 1, "decoder_hidden_size": 128},
}


def _register_hybrid(size: str) -> None:
    """Registers a size; the command line overrides its values."""

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
            # An RNN half takes no preset of Transformer options, only what the user gave.
            if (
                option in given
                or option not in options_of(TRANSFORMER)
                or any(families[half] == TRANSFORMER for half in halves_of(option))
            ):
                setattr(args, option, value)

    register_model_architecture("syntax_hybrid", "syntax_hybrid" + size)(fill_in)


for _suffix in _RNN_DECODER:
    _register_hybrid(_suffix)
