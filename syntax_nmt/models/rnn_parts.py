"""The RNN family's encoder and decoder: options checked, sizes derived from them, parts built."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks import FairseqTask
from torch import nn

from syntax_nmt.backbone.attentive_recurrence import AttentiveGRU, ConditionalGRU
from syntax_nmt.backbone.initialization import initialize_orthogonal, initialize_uniform
from syntax_nmt.backbone.readout import READOUTS, Readout
from syntax_nmt.backbone.rnn_decoder import RNNDecoder
from syntax_nmt.backbone.rnn_encoder import BidirectionalEncoder, EncoderNetwork, RNNEncoder
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.bi_scale.decoder import BiScaleDecoder
from syntax_nmt.methods.bi_scale.options import (
    BOTH,
    CHUNK_ATTENTIONS,
    CHUNK_CONTEXTS,
    CHUNK_READOUTS,
    CONTEXT,
    STATE,
    STEP,
    WORD,
    check_bi_scale_decoder,
)
from syntax_nmt.methods.bi_scale.recurrence import BiScaleGRU
from syntax_nmt.methods.relation_network.encoders import (
    InterleavedEncoder,
    RelationOnTop,
    StackedEncoder,
)
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.methods.relation_network.options import (
    INTERLEAVED,
    OF_RELATION_NETWORK,
    PLACEMENTS,
    parsed_kernels,
)
from syntax_nmt.models.options import (
    BIDIRECTIONAL,
    DENSE,
    ENCODER_GRUS,
    INITIALIZATIONS,
    ORTHOGONAL,
    STACKED,
    UNIFORM,
    SyntaxRNNOptions,
)
from syntax_nmt.option_checks import check_choice, check_dropouts, refuse_changed

_CHOICES = {
    "encoder_gru": ENCODER_GRUS,
    "readout": READOUTS,
    "initialization": INITIALIZATIONS,
    "relation_placement": PLACEMENTS,
    "chunk_context": CHUNK_CONTEXTS,
    "chunk_attention": CHUNK_ATTENTIONS,
    "chunk_readout": CHUNK_READOUTS,
}
_DROPOUTS = ("dropout", "encoder_dropout_in", "encoder_dropout_out", "decoder_dropout_in")


@dataclass(frozen=True)
class RNNSizes:
    """Sizes that default to others.

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
    """The sizes given by the options.

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
        kernels=()
        if options.relation_kernels is None
        else parsed_kernels(str(options.relation_kernels)),
    )
    _check_embeddings(options, sizes)
    _check_encoder(options, sizes)
    check_bi_scale_decoder(options)
    return sizes


def _check_values(options: SyntaxRNNOptions) -> None:
    """Checks single values, because fairseq-hydra-train does not check those of a YAML."""
    check_dropouts(options, _DROPOUTS)
    for name, choices in _CHOICES.items():
        check_choice(name, getattr(options, name), choices)


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
        shared = "all-embeddings" if options.share_all_embeddings else "decoder-input-output-embed"
        raise UserError(
            f"--share-{shared}: --decoder-embed-dim is {options.decoder_embed_dim} and "
            f"--decoder-out-embed-dim {sizes.readout}; make them equal"
        )


def _check_encoder(options: SyntaxRNNOptions, sizes: RNNSizes) -> None:
    gru, placement = str(options.encoder_gru), str(options.relation_placement)
    if not sizes.kernels:
        needed = "--relation-kernels, such as 1:128,3:256"
        refuse_changed(options, OF_RELATION_NETWORK, needed)
        if gru != DENSE:
            refuse_changed(options, ["relation_dense_embedding"], needed)
    elif gru != BIDIRECTIONAL:
        raise UserError(
            f"--encoder-gru {gru} is for a model without relation network; leave "
            "--relation-kernels out or, where the architecture sets them, give --arch "
            "rnn_search_cgru; otherwise --relation-placement says where the layers are"
        )
    elif placement != INTERLEAVED and options.relation_dense_embedding:
        raise UserError("--relation-dense-embedding needs --relation-placement interleaved")
    residual = placement == INTERLEAVED if sizes.kernels else gru == DENSE
    if residual and options.encoder_embed_dim != sizes.encoder_state:
        chosen = "--relation-placement interleaved" if sizes.kernels else "--encoder-gru dense"
        raise UserError(
            f"{chosen} adds the embeddings to the first GRU's states: "
            f"--encoder-embed-dim is {options.encoder_embed_dim} and --encoder-hidden-size "
            f"{sizes.encoder_state}; make them equal"
        )


def prepare_for_rnn_decoder(args: Any, task: FairseqTask) -> None:
    """Gives a bi-scale decoder the chunk types of the data, unless they are given.

    Args:
        args: the options, a namespace; changed in place.

    Raises:
        UserError: the target is padded on the left.
    """
    if task.cfg.left_pad_target:
        raise UserError(
            "--left-pad-target: a recurrent decoder would read the pads before the sentence, "
            "so that it depended on its batch; leave it out"
        )
    if getattr(args, "bi_scale", False) and getattr(args, "chunk_tags", None) is None:
        args.chunk_tags = " ".join(task.labels(CHUNKS))


def build_encoder(
    options: SyntaxRNNOptions,
    sizes: RNNSizes,
    dictionary: Dictionary,
    embed_tokens: nn.Embedding,
    kind: type[RNNEncoder] = RNNEncoder,
) -> RNNEncoder:
    """The encoder.

    Args:
        embed_tokens: V×E.
    """
    if options.encoder_freeze_embed:
        embed_tokens.weight.requires_grad = False
    return kind(
        dictionary,
        embed_tokens,
        build_encoder_network(options, sizes),
        options.encoder_dropout_in,
        options.encoder_dropout_out,
    )


def build_encoder_network(options: SyntaxRNNOptions, sizes: RNNSizes) -> EncoderNetwork:
    """The network that turns embeddings into annotations."""
    gru = str(options.encoder_gru)
    if gru == STACKED:
        return StackedEncoder(options.encoder_embed_dim, sizes.encoder_state)
    if gru == DENSE:
        return InterleavedEncoder(sizes.encoder_state, None, options.relation_dense_embedding)
    if not sizes.kernels:
        return BidirectionalEncoder(options.encoder_embed_dim, sizes.encoder_state)
    build_layer = partial(build_relation_network, options=options, sizes=sizes)
    if str(options.relation_placement) == INTERLEAVED:
        return InterleavedEncoder(
            sizes.encoder_state, build_layer, options.relation_dense_embedding
        )
    return RelationOnTop(options.encoder_embed_dim, sizes.encoder_state, build_layer)


def build_relation_network(
    width: int, options: SyntaxRNNOptions, sizes: RNNSizes
) -> RelationNetworkLayer:
    """A layer of relations between words."""
    return RelationNetworkLayer(
        width,
        kernels=sizes.kernels,
        hidden_dim=options.relation_hidden_dim,
        parallel_convolutions=options.relation_parallel_convolutions,
        norm_before_activation=options.relation_norm_before_activation,
        block=options.relation_block,
        kept_pairs=options.relation_kept_pairs,
    )


def build_decoder(
    options: SyntaxRNNOptions,
    sizes: RNNSizes,
    dictionary: Dictionary,
    embed_tokens: nn.Embedding,
    memory_dim: int,
) -> RNNDecoder:
    """The decoder.

    Args:
        embed_tokens: V×E.
        memory_dim: M, width of the annotations.
    """
    if options.decoder_freeze_embed:
        embed_tokens.weight.requires_grad = False
    read_of_source = {
        CONTEXT: memory_dim,
        STATE: sizes.decoder_state,
        BOTH: memory_dim + sizes.decoder_state,
    }[str(options.chunk_readout)]
    readout = Readout(
        sizes.decoder_state,
        options.decoder_embed_dim,
        read_of_source,
        sizes.readout,
        str(options.readout),
    )
    shares = options.share_decoder_input_output_embed or options.share_all_embeddings
    common: dict[str, Any] = {
        "memory_dim": memory_dim,
        "readout_dim": sizes.readout,
        "layers": options.decoder_layers,
        "dropout": options.dropout,
        "dropout_in": options.decoder_dropout_in,
        "share_embeddings": shares,
    }
    dims = (options.decoder_embed_dim, sizes.decoder_state, memory_dim, sizes.attention)
    if options.bi_scale:
        clocks = BiScaleGRU(
            *dims,
            word_attention=str(options.chunk_attention) == WORD,
            context_every_step=str(options.chunk_context) == STEP,
        )
        tags, joint_score = (options.chunk_tags or "").split(), not options.no_joint_score
        return BiScaleDecoder(
            dictionary,
            embed_tokens,
            clocks,
            readout,
            tags,
            joint_score,
            readout_of=str(options.chunk_readout),
            **common,
        )
    kind = ConditionalGRU if options.conditional_gru else AttentiveGRU
    return RNNDecoder(dictionary, embed_tokens, kind(*dims), readout, **common)


def initialize(module: nn.Module, options: SyntaxRNNOptions) -> None:
    """Initialises the parameters."""
    start = {UNIFORM: initialize_uniform, ORTHOGONAL: initialize_orthogonal}
    start[str(options.initialization)](module)
