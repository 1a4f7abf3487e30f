"""The options of the RNN family, checked, and the sizes that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

from syntax_nmt.errors import UserError
from syntax_nmt.models.rnn_options import (
    BOUNDARY,
    CHUNK,
    CHUNK_ATTENTIONS,
    CHUNK_CONTEXTS,
    INTERLEAVED,
    PLACEMENTS,
    SyntaxRNNOptions,
)
from syntax_nmt.modules.readout import READOUTS

_OF_RELATION_NETWORK = (
    "relation_parallel_convolutions",
    "relation_dense_embedding",
    "relation_norm_before_activation",
)
_OF_BI_SCALE_DECODER = {
    "chunk_context": BOUNDARY,
    "chunk_attention": CHUNK,
    "no_joint_score": False,
    "chunk_tags": None,
}
_CHOICES = {
    "readout": READOUTS,
    "relation_placement": PLACEMENTS,
    "chunk_context": CHUNK_CONTEXTS,
    "chunk_attention": CHUNK_ATTENTIONS,
}
_NUMBERS = (
    "encoder_embed_dim",
    "encoder_hidden_size",
    "decoder_embed_dim",
    "decoder_hidden_size",
    "decoder_layers",
    "decoder_out_embed_dim",
    "attention_dim",
    "relation_hidden_dim",
)
_DROPOUTS = ("dropout", "encoder_dropout_in", "encoder_dropout_out", "decoder_dropout_in")


@dataclass(frozen=True)
class RNNSizes:
    """Sizes that follow from others unless they are given.

    Attributes:
        encoder_state: units of an encoder GRU in one direction.
        decoder_state: units of a decoder GRU.
        attention: A, rows of W_a and U_a.
        readout: width of the readout.
        kernels: (width, channels) of each convolution of the relation network; empty = none.
    """

    encoder_state: int
    decoder_state: int
    attention: int
    readout: int
    kernels: tuple[tuple[int, int], ...]


def rnn_sizes(options: SyntaxRNNOptions) -> RNNSizes:
    """The sizes that the options mean.

    Args:
        options: as the user gave them.

    Raises:
        UserError: options that contradict each other.
    """
    _check_values(options)
    decoder_state = options.decoder_hidden_size or options.decoder_embed_dim
    sizes = RNNSizes(
        encoder_state=options.encoder_hidden_size or options.encoder_embed_dim,
        decoder_state=decoder_state,
        attention=options.attention_dim or decoder_state,
        readout=options.decoder_out_embed_dim or options.decoder_embed_dim,
        kernels=() if options.relation_kernels is None else _kernels(options.relation_kernels),
    )
    _check_embeddings(options, sizes)
    _check_relation_network(options, sizes)
    _check_bi_scale_decoder(options)
    return sizes


def _check_values(options: SyntaxRNNOptions) -> None:
    for name in _NUMBERS:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UserError(f"{_flag(name)} {value}: give a number of at least 1")
    for name in _DROPOUTS:
        value = getattr(options, name)
        if not 0 <= value < 1:
            raise UserError(f"{_flag(name)} {value}: give a share from 0 to less than 1")
    for name, choices in _CHOICES.items():
        value = str(getattr(options, name))
        if value not in choices:  # which a YAML of fairseq-hydra-train may say
            raise UserError(f"{_flag(name)} {value}: choose {', '.join(choices)}")


def _check_embeddings(options: SyntaxRNNOptions, sizes: RNNSizes) -> None:
    if options.share_all_embeddings:
        if options.encoder_embed_dim != options.decoder_embed_dim:
            raise UserError(
                f"--share-all-embeddings: --encoder-embed-dim is {options.encoder_embed_dim} and "
                f"--decoder-embed-dim {options.decoder_embed_dim}; make them equal"
            )
        if options.decoder_embed_path not in (None, options.encoder_embed_path):
            raise UserError(
                "--share-all-embeddings: leave --decoder-embed-path out, the embeddings are those "
                "of --encoder-embed-path"
            )
    shares = options.share_decoder_input_output_embed or options.share_all_embeddings
    if shares and options.decoder_embed_dim != sizes.readout:
        flag = "all-embeddings" if options.share_all_embeddings else "decoder-input-output-embed"
        raise UserError(
            f"--share-{flag}: --decoder-embed-dim is {options.decoder_embed_dim} and "
            f"--decoder-out-embed-dim {sizes.readout}; make them equal"
        )


def _check_relation_network(options: SyntaxRNNOptions, sizes: RNNSizes) -> None:
    if not sizes.kernels:
        for name in _OF_RELATION_NETWORK:
            if getattr(options, name):
                raise UserError(f"{_flag(name)} needs --relation-kernels, such as 1:128,3:256")
        return
    if options.relation_placement == INTERLEAVED:
        if options.encoder_embed_dim != sizes.encoder_state:
            raise UserError(
                "--relation-placement interleaved adds the embeddings to the first GRU's states: "
                f"--encoder-embed-dim is {options.encoder_embed_dim} and --encoder-hidden-size "
                f"{sizes.encoder_state}; make them equal"
            )
    elif options.relation_dense_embedding:
        raise UserError("--relation-dense-embedding needs --relation-placement interleaved")


def _check_bi_scale_decoder(options: SyntaxRNNOptions) -> None:
    if not options.bi_scale:
        for name, default in _OF_BI_SCALE_DECODER.items():
            value = getattr(options, name)
            if value != default and str(value) != default:
                raise UserError(f"{_flag(name)} needs --bi-scale")
        return
    tags = (options.chunk_tags or "").split()
    for position, tag in enumerate(tags):
        if tag in tags[:position]:
            raise UserError(f"--chunk-tags: {tag} comes twice; give each type of chunk once")


def _kernels(text: str) -> tuple[tuple[int, int], ...]:
    """The (width, channels) that `WIDTH:CHANNELS,…` means."""
    try:
        kernels = tuple(_kernel(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"--relation-kernels {text}: give WIDTH:CHANNELS with commas between, such as "
            "1:128,3:256; widths are odd"
        ) from None
    return kernels


def _kernel(text: str) -> tuple[int, int]:
    width, channels = map(int, text.split(":"))
    if width < 1 or width % 2 == 0 or channels < 1:
        raise ValueError(text)
    return width, channels


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
