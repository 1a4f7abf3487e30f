"""Builds encoder and decoder of the RNN family from their options."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairseq.data import Dictionary
from torch import nn

from syntax_nmt.errors import UserError
from syntax_nmt.models.bi_scale_decoder import BiScaleDecoder
from syntax_nmt.models.bidirectional_encoder import BidirectionalEncoder
from syntax_nmt.models.relation_encoder import InterleavedEncoder, RelationOnTop
from syntax_nmt.models.rnn_decoder import RNNDecoder
from syntax_nmt.models.rnn_encoder import EncoderNetwork, RNNEncoder
from syntax_nmt.models.rnn_options import (
    BOTH,
    CONTEXT,
    DENSE,
    INTERLEAVED,
    STACKED,
    STATE,
    STEP,
    WORD,
    SyntaxRNNOptions,
)
from syntax_nmt.models.rnn_sizes import RNNSizes
from syntax_nmt.models.stacked_encoder import StackedEncoder
from syntax_nmt.modules.attentive_recurrence import AttentiveGRU, ConditionalGRU
from syntax_nmt.modules.bi_scale_gru import BiScaleGRU
from syntax_nmt.modules.readout import Readout
from syntax_nmt.modules.relation_network import RelationNetworkLayer


def build_encoder(options: SyntaxRNNOptions, sizes: RNNSizes, dictionary: Dictionary) -> RNNEncoder:
    """The encoder."""
    return RNNEncoder(
        dictionary,
        nn.Embedding(len(dictionary), options.encoder_embed_dim, dictionary.pad()),
        build_encoder_network(options, sizes),
        options.encoder_dropout_in,
        options.encoder_dropout_out,
    )


def build_encoder_network(options: SyntaxRNNOptions, sizes: RNNSizes) -> EncoderNetwork:
    """What turns embeddings into annotations."""
    gru = str(options.encoder_gru)
    if gru == STACKED:
        return StackedEncoder(options.encoder_embed_dim, sizes.encoder_state)
    if gru == DENSE:
        return InterleavedEncoder(sizes.encoder_state, None, options.relation_dense_embedding)
    if not sizes.kernels:
        return BidirectionalEncoder(options.encoder_embed_dim, sizes.encoder_state)
    build_layer = partial(
        RelationNetworkLayer,
        kernels=sizes.kernels,
        hidden_dim=options.relation_hidden_dim,
        parallel_convolutions=options.relation_parallel_convolutions,
        norm_before_activation=options.relation_norm_before_activation,
        block=options.relation_block,
        kept_pairs=options.relation_kept_pairs,
    )
    if str(options.relation_placement) == INTERLEAVED:
        return InterleavedEncoder(
            sizes.encoder_state, build_layer, options.relation_dense_embedding
        )
    return RelationOnTop(options.encoder_embed_dim, sizes.encoder_state, build_layer)


def build_decoder(
    options: SyntaxRNNOptions, sizes: RNNSizes, dictionary: Dictionary, encoder: RNNEncoder
) -> RNNDecoder:
    """The decoder.

    Args:
        encoder: what it attends to.

    Raises:
        UserError: embeddings cannot be shared with the encoder.
    """
    embed_tokens = nn.Embedding(len(dictionary), options.decoder_embed_dim, dictionary.pad())
    if options.share_all_embeddings:
        if encoder.dictionary != dictionary:
            raise UserError(
                "--share-all-embeddings: source and target have different dictionaries; prepare "
                "the data with a joined one"
            )
        embed_tokens = encoder.embed_tokens
    read_of_source = {
        CONTEXT: encoder.output_dim,
        STATE: sizes.decoder_state,
        BOTH: encoder.output_dim + sizes.decoder_state,
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
        "memory_dim": encoder.output_dim,
        "readout_dim": sizes.readout,
        "layers": options.decoder_layers,
        "dropout": options.dropout,
        "dropout_in": options.decoder_dropout_in,
        "share_embeddings": shares,
    }
    dims = (options.decoder_embed_dim, sizes.decoder_state, encoder.output_dim, sizes.attention)
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
