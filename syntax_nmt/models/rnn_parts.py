"""The RNN family's encoder and decoder: options checked, sizes derived from them, parts built."""

from dataclasses import dataclass
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks import FairseqTask
from torch import nn

from syntax_nmt.backbone.extension import single
from syntax_nmt.backbone.rnn_decoder import RNNDecoder
from syntax_nmt.backbone.rnn_encoder import BidirectionalEncoder, RNNEncoder
from syntax_nmt.backbone.rnn_extension import RNNDecoderStack, RNNEncoderStack
from syntax_nmt.errors import UserError
from syntax_nmt.methods import extensions_of
from syntax_nmt.methods.method import RNN_DECODER, RNN_ENCODER, read_options
from syntax_nmt.models.options import RNNOptions
from syntax_nmt.option_checks import check_dropouts, check_from_one

_DROPOUTS = ("dropout", "encoder_dropout_in", "encoder_dropout_out", "decoder_dropout_in")
_WIDTHS = (
    *("encoder_embed_dim", "encoder_hidden_size", "decoder_embed_dim", "decoder_hidden_size"),
    *("attention_dim", "decoder_out_embed_dim"),
)


@dataclass(frozen=True)
class RNNSizes:
    """Sizes that default to others.

    Attributes:
        encoder_state: units of an encoder GRU in one direction.
        decoder_state: units of a decoder GRU.
        attention: A, rows of W_a and U_a.
        readout: width of the readout.
    """

    encoder_state: int
    decoder_state: int
    attention: int
    readout: int


def rnn_options(given: Any) -> tuple[RNNOptions, RNNSizes]:
    """The options of the RNN parts of a model, and the sizes that they give.

    Args:
        given: all options of the model, where None = not given.

    Raises:
        UserError: options that contradict each other.
    """
    options = read_options(RNNOptions, given)
    check_dropouts(options, _DROPOUTS)
    check_from_one(options, _WIDTHS)
    decoder_state = options.decoder_hidden_size or options.decoder_embed_dim
    sizes = RNNSizes(
        encoder_state=options.encoder_hidden_size or options.encoder_embed_dim,
        decoder_state=decoder_state,
        attention=options.attention_dim or decoder_state,
        readout=options.decoder_out_embed_dim or options.decoder_embed_dim,
    )
    _check_embeddings(options, sizes)
    return options, sizes


def _check_embeddings(options: RNNOptions, sizes: RNNSizes) -> None:
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
        shared = "all-embeddings" if options.share_all_embeddings else "decoder-input-output-embed"
        raise UserError(
            f"--share-{shared}: --decoder-embed-dim is {options.decoder_embed_dim} and "
            f"--decoder-out-embed-dim {sizes.readout}; make them equal"
        )


def check_target_padding(task: FairseqTask) -> None:
    """Raises a :class:`UserError` if the target of an RNN decoder is padded on the left."""
    if task.cfg.left_pad_target:
        raise UserError(
            "--left-pad-target: a recurrent decoder would read the pads before the sentence, "
            "so that it depended on its batch; leave it out"
        )


def build_encoder(
    given: Any,
    dictionary: Dictionary,
    embed_tokens: nn.Embedding,
    kind: type[RNNEncoder] = RNNEncoder,
) -> RNNEncoder:
    """The encoder.

    Args:
        given: all options of the model.
        embed_tokens: V×E.

    Raises:
        UserError: options that contradict each other.
    """
    options, sizes = rnn_options(given)
    stack = RNNEncoderStack(
        dictionary,
        options.encoder_embed_dim,
        sizes.encoder_state,
        options.share_all_embeddings,
        options.encoder_embed_path is not None,
    )
    extensions = extensions_of(RNN_ENCODER, given, stack)
    for extension in extensions:
        embed_tokens = extension.word_table(embed_tokens)
    if options.encoder_freeze_embed:
        embed_tokens.weight.requires_grad = False
    network = single(
        ((extension, extension.network()) for extension in extensions), "the network of the encoder"
    )
    return kind(
        dictionary,
        embed_tokens,
        network or BidirectionalEncoder(stack.embed_dim, stack.state_dim),
        options.encoder_dropout_in,
        options.encoder_dropout_out,
        extensions,
    )


def build_decoder(
    given: Any, dictionary: Dictionary, embed_tokens: nn.Embedding, memory_dim: int
) -> RNNDecoder:
    """The decoder.

    Args:
        given: all options of the model.
        embed_tokens: V×E.
        memory_dim: M, width of the encoder's states.

    Raises:
        UserError: options that contradict each other.
    """
    options, sizes = rnn_options(given)
    check_from_one(options, ["decoder_layers"])
    if options.decoder_freeze_embed:
        embed_tokens.weight.requires_grad = False
    shares = options.share_decoder_input_output_embed or options.share_all_embeddings
    stack = RNNDecoderStack(
        dictionary,
        embed_tokens,
        options.decoder_embed_dim,
        sizes.decoder_state,
        memory_dim,
        sizes.attention,
        options.readout,
        sizes.readout,
        options.conditional_gru,
        {
            "readout_dim": sizes.readout,
            "layers": options.decoder_layers,
            "dropout": options.dropout,
            "dropout_in": options.decoder_dropout_in,
            "share_embeddings": shares,
        },
    )
    extensions = extensions_of(RNN_DECODER, given, stack)
    decoder = single(((extension, extension.decoder()) for extension in extensions), "the decoder")
    if decoder is None:
        parts = stack.recurrence(), stack.readout(memory_dim)
        decoder = RNNDecoder(dictionary, embed_tokens, *parts, memory_dim, **stack.arguments)
    decoder.register_extensions(extensions)
    return decoder
