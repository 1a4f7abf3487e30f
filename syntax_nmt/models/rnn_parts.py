"""Builds encoder and decoder of the RNN family from their options."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairseq.data import Dictionary
from fairseq.tasks import FairseqTask
from torch import nn

from syntax_nmt.backbone.attentive_recurrence import AttentiveGRU, ConditionalGRU
from syntax_nmt.backbone.initialization import initialize_orthogonal, initialize_uniform
from syntax_nmt.backbone.readout import Readout
from syntax_nmt.backbone.rnn_decoder import RNNDecoder
from syntax_nmt.backbone.rnn_encoder import BidirectionalEncoder, EncoderNetwork, RNNEncoder
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.bi_scale.decoder import BiScaleDecoder
from syntax_nmt.methods.bi_scale.options import BOTH, CONTEXT, STATE, STEP, WORD
from syntax_nmt.methods.bi_scale.recurrence import BiScaleGRU
from syntax_nmt.methods.relation_network.encoders import (
    InterleavedEncoder,
    RelationOnTop,
    StackedEncoder,
)
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.methods.relation_network.options import INTERLEAVED
from syntax_nmt.models.options import DENSE, ORTHOGONAL, STACKED, UNIFORM, SyntaxRNNOptions
from syntax_nmt.models.rnn_sizes import RNNSizes


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
