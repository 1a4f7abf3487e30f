"""The named architectures (`--arch`): a method's extensions, or a paper's system, in several sizes.

A preset gives defaults to options; the command line overrides them.
"""

from collections.abc import Callable, Mapping
from itertools import chain
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
from syntax_nmt.arguments import DECODER, ENCODER, Namespace
from syntax_nmt.methods import METHODS
from syntax_nmt.methods.method import RNN, RNN_SIZES, TRANSFORMER, TrainingRecipe
from syntax_nmt.methods.method import Preset as MethodPreset
from syntax_nmt.models.family_options import options_of, stacks_of

Preset = Callable[[Namespace], None]


def _preset(defaults: Mapping[str, Any], size: Preset | None = None) -> Preset:
    """Fills in options that the user has not given: these defaults, then those of the size."""

    def fill_in(args: Namespace) -> None:
        for option, value in defaults.items():
            setattr(args, option, getattr(args, option, value))
        if size is not None:
            size(args)

    return fill_in


# Trains on a CPU in minutes: width 64, two pre-norm layers in each stack.
_TINY = {
    "encoder_embed_dim": 64,
    "encoder_ffn_embed_dim": 256,
    **{f"{stack}_layers": 2 for stack in (ENCODER, DECODER)},
    **{f"{stack}_attention_heads": 4 for stack in (ENCODER, DECODER)},
    **{f"{stack}_normalize_before": True for stack in (ENCODER, DECODER)},
}
SIZES: dict[str, Preset] = {
    "": base_architecture,
    "_tiny": _preset(_TINY, base_architecture),
    "_iwslt_de_en": transformer_iwslt_de_en,
    "_wmt_en_de": base_architecture,
    "_wmt_en_de_big": transformer_wmt_en_de_big,
}


def _register(name: str, preset: MethodPreset) -> None:
    """Registers an architecture in every size."""
    if preset.family == TRANSFORMER:
        for suffix, size in SIZES.items():
            filled = _preset(preset.options, _derived(size, preset))
            register_model_architecture("syntax_transformer", name + suffix)(filled)
        return
    for suffix, more in (preset.sizes or RNN_SIZES).items():
        filled = _preset({**preset.options, **RNN_SIZES.get(suffix, {}), **more})
        register_model_architecture("syntax_rnn", name + suffix)(filled)


def _derived(size: Preset, preset: MethodPreset) -> Preset:
    """The size, and options that follow from it."""

    def fill_in(args: Namespace) -> None:
        size(args)
        for option, derive in preset.derived.items():
            setattr(args, option, getattr(args, option, derive(args)))

    return fill_in


BASELINES = {
    "syntax_transformer": MethodPreset(TRANSFORMER),
    "rnn_search": MethodPreset(RNN),
    "rnn_search_cgru": MethodPreset(RNN, {"conditional_gru": True}),
}
BASELINE_LINES = (
    TrainingRecipe("a Transformer without syntax", "syntax_transformer", "baseline"),
    TrainingRecipe("RNNsearch", "rnn_search", "rnn", family=RNN, is_printed=False),
    TrainingRecipe("RNNsearch*", "rnn_search_cgru", "rnn_baseline", family=RNN),
)
LINES = (*BASELINE_LINES, *(line for method in METHODS for line in method.recipes))
"""Every way to train that is declared."""

for _name, _declared in chain(BASELINES.items(), *(method.presets.items() for method in METHODS)):
    _register(_name, _declared)

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
        chosen = {f"{stack}_family": family for stack, family in families.items()}
        if set(families.values()) == {RNN}:
            values = {**RNN_SIZES[size], **chosen, **given}
        else:
            more = _RNN_DECODER[size] if families[DECODER] == RNN else {}
            filled = Namespace(**{**more, **chosen, **given})
            SIZES[size](filled)
            values = vars(filled)
        for option, value in values.items():
            # An RNN stack takes no preset of Transformer options, only what the user gave.
            if (
                option in given
                or option not in options_of(TRANSFORMER)
                or any(families[stack] == TRANSFORMER for stack in stacks_of(option))
            ):
                setattr(args, option, value)

    register_model_architecture("syntax_hybrid", "syntax_hybrid" + size)(fill_in)


for _suffix in _RNN_DECODER:
    _register_hybrid(_suffix)
