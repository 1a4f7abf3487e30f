"""The options of the model families, collected from the methods.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import decoder_option, encoder_option, option
from syntax_nmt.backbone.initialization import INITIALIZATIONS, UNIFORM
from syntax_nmt.backbone.readout import LINEAR, READOUTS
from syntax_nmt.methods import METHODS
from syntax_nmt.methods.method import FAMILIES, RNN, TRANSFORMER

TRANSFORMER_DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")


def _of_family(family: str) -> tuple[type[FairseqDataclass], ...]:
    """The options of the methods of a family. The last comes first in `--help`."""
    return tuple(
        method.options
        for method in METHODS
        if method.options is not None and family in method.families
    )


SyntaxTransformerOptions = make_dataclass(
    "SyntaxTransformerOptions", (), bases=_of_family(TRANSFORMER)
)
"""The options beyond those of fairseq's own `transformer`.

Every extension is off by default; with all of them off the model is the stock Transformer.
"""


def _default(option: str, usual: str, **other: Sequence[str]) -> str:
    """The end of an option's help: its default, and the presets of RNNs that have another one.

    Args:
        **other: values of further presets.
    """
    named = {value: [*names] for value, names in other.items()}
    for method in METHODS:
        for name, preset in method.presets.items():
            given = {**preset.options, **preset.sizes.get("", {})}
            if preset.family == RNN and option in given:
                value = "on" if given[option] is True else str(given[option])
                named.setdefault(value, []).append(name)
    presets = (f"; {', '.join(names)}: {value}" for value, names in named.items())
    return f"(default: {usual}{''.join(presets)})"


@dataclass
class GRUOptions(FairseqDataclass):
    """Options of only recurrent encoders and decoders."""

    encoder_freeze_embed: bool = encoder_option(
        False,
        "do not train the source embeddings or parameters that share them (also the output layer)",
    )
    encoder_hidden_size: Optional[int] = encoder_option(
        None,
        "C, units of an encoder GRU in one direction "
        + _default("encoder_hidden_size", "--encoder-embed-dim"),
    )
    decoder_freeze_embed: bool = decoder_option(
        False,
        "do not train the target embeddings or parameters that share them (also the output layer)",
    )
    decoder_hidden_size: Optional[int] = decoder_option(
        None,
        "units of the decoder state s " + _default("decoder_hidden_size", "--decoder-embed-dim"),
    )
    decoder_out_embed_dim: Optional[int] = decoder_option(
        None,
        "width of the readout f, equation 5 "
        + _default("decoder_out_embed_dim", "--decoder-embed-dim"),
    )
    attention_dim: Optional[int] = decoder_option(
        None,
        "rows of W_a and U_a, equation 2 " + _default("attention_dim", "--decoder-hidden-size"),
    )
    encoder_dropout_in: float = encoder_option(0.0, "dropout of the source embeddings (default: 0)")
    encoder_dropout_out: float = encoder_option(0.0, "dropout of the encoder's output (default: 0)")
    decoder_dropout_in: float = decoder_option(0.0, "dropout of the target embeddings (default: 0)")
    conditional_gru: bool = decoder_option(
        False,
        "RNNsearch*: two GRUs in a decoder step, equation 13, with attention from "
        "the intermediate state, s~ " + _default("conditional_gru", "off", on=["rnn_search_cgru"]),
    )
    readout: ChoiceEnum(READOUTS) = decoder_option(  # type: ignore[valid-type]
        LINEAR,
        "f of equation 5: linear (the paper), maxout (its released code) or tanh "
        "(the code of the bi-scale decoder) " + _default("readout", LINEAR),
    )
    initialization: ChoiceEnum(INITIALIZATIONS) = option(  # type: ignore[valid-type]
        UNIFORM,
        "initial parameters: uniform in (-0.1, 0.1), as for relation networks, or orthogonal "
        "recurrent matrices, other weights N(0, 0.01) and biases 0, as in the code of the "
        "bi-scale decoder (default: uniform)",
    )


@dataclass
class _RNNSizes(FairseqDataclass):
    """With every extension off the model is RNNsearch; defaults are those of Zhang et al. (2018).

    fairseq's Transformer has options of these names, too.
    """

    encoder_embed_dim: int = option(
        512, "width of the source embeddings " + _default("encoder_embed_dim", "512")
    )
    encoder_embed_path: Optional[str] = option(
        None,
        "text file of source embeddings for initialisation: the first line has the number of "
        "vectors and their width, every other line a word and its numbers",
    )
    decoder_embed_dim: int = option(
        512, "width of the target embeddings y " + _default("decoder_embed_dim", "512")
    )
    decoder_embed_path: Optional[str] = option(
        None,
        "text file of target embeddings for initialisation: the first line has the number of "
        "vectors and their width, every other line a word and its numbers",
    )
    decoder_layers: int = option(
        1,
        "decoder layers; a second layer is a GRU over the states of "
        "the first, as in the baseline dl4mt-2 (default: 1)",
    )
    dropout: float = option(0.5, "dropout of the readout, before the output layer (default: 0.5)")
    share_decoder_input_output_embed: bool = option(
        False,
        "the output layer shares the weights of the target embeddings, as in the released "
        "code of relation networks (default: off)",
    )
    share_all_embeddings: bool = option(
        False, "source, target and output share embeddings (joined dictionary)"
    )


@dataclass
class RNNOptions(_RNNSizes, GRUOptions):
    """The options of RNNs without those of the methods."""


RecurrentOptions = make_dataclass("RecurrentOptions", (), bases=(*_of_family(RNN), GRUOptions))
"""The options of RNNs beyond those that fairseq's `transformer` has, too; extensions are off."""

SyntaxRNNOptions = make_dataclass("SyntaxRNNOptions", (), bases=(_RNNSizes, RecurrentOptions))


@dataclass
class _Families(FairseqDataclass):
    encoder_family: ChoiceEnum(FAMILIES) = option(  # type: ignore[valid-type]
        TRANSFORMER, "encoder: a Transformer or GRUs (default: transformer)"
    )
    decoder_family: ChoiceEnum(FAMILIES) = option(  # type: ignore[valid-type]
        RNN, "decoder: a Transformer or GRUs (default: rnn)"
    )


SyntaxHybridOptions = make_dataclass(
    "SyntaxHybridOptions", (), bases=(_Families, SyntaxTransformerOptions, RecurrentOptions)
)
"""The options of both families beyond those of fairseq's own `transformer`."""

METHOD_SWITCHES = {
    switch: getattr(method.options, switch)
    for method in METHODS
    if method.options is not None
    for switch in method.switches
}
"""The options that turn each method on, or parts of it, and their values if it is off."""
