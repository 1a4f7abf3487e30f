"""Encoders and decoders of either family in one model, with all methods."""

import argparse
from argparse import Namespace
from dataclasses import fields
from typing import Any

from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import BaseFairseqModel, FairseqDecoder, FairseqEncoder, register_model
from fairseq.models.transformer import TransformerConfig, TransformerModel
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_encoder import PADDING, STATES, RNNEncoder, rows_rearranged
from syntax_nmt.errors import UserError
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.models.family_options import (
    DECODER,
    ENCODER,
    HALVES,
    RNN,
    TRANSFORMER,
    check_families,
)
from syntax_nmt.models.model_building import build_for_syntax_translation
from syntax_nmt.models.options import (
    SyntaxHybridOptions,
    SyntaxRNNOptions,
    SyntaxTransformerOptions,
)
from syntax_nmt.models.pretrained_weights import CheckedHub
from syntax_nmt.models.rnn_parts import (
    build_decoder,
    build_encoder,
    build_relation_network,
    initialize,
    prepare_for_rnn_decoder,
    rnn_sizes,
)
from syntax_nmt.models.syntax_model import SyntaxModel
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel
from syntax_nmt.models.transformer_encoder import SyntaxTransformerEncoder


class RelatingEncoder(SyntaxTransformerEncoder):
    """A Transformer encoder with an optional relation network on top: `h + RNL(h)`.

    Zhang et al. (2018, Section 3) put it on a bidirectional GRU. Phrases, which a Transformer
    decoder reads, too, remain those of the Transformer's layers.

    Args:
        cfg: fairseq's options of the Transformer.
        embed_tokens: V×C.
        relation: the relation network; None = there is none.
        for_rnn: whether the decoder is an RNN, which reads no phrases.

    Raises:
        UserError: options that contradict each other.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        options: SyntaxTransformerOptions,
        relation: RelationNetworkLayer | None,
        for_rnn: bool,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens, options, hands_on_phrases=not for_rnn)
        self.relation = relation
        self.for_rnn = for_rnn

    def forward(self, src_tokens: Tensor, *args: Any, **kwargs: Any) -> dict[str, list[Tensor]]:
        """Encodes a batch.

        Args:
            src_tokens: B×S.
        """
        out = super().forward(src_tokens, *args, **kwargs)
        if self.relation is not None:
            (states,), (padding,) = out[STATES], out[PADDING]
            # The network is batch first, the input of a decoder time first, S×B×C.
            received = self.relation(states.transpose(0, 1), PackedRows(padding))
            out[STATES] = [states + received.transpose(0, 1)]
        return out

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what :meth:`forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of :meth:`forward`.
            new_order: the row that goes to each place.
        """
        if self.for_rnn:
            return rows_rearranged(encoder_out, new_order)
        return super().reorder_encoder_out(encoder_out, new_order)


class RNNEncoderForTransformer(RNNEncoder):
    """An RNN encoder for a Transformer decoder, which needs annotations for each hypothesis."""

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what :meth:`forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of :meth:`forward`.
            new_order: the row that goes to each place.
        """
        (annotations,), (padding,) = encoder_out[STATES], encoder_out[PADDING]
        return {
            STATES: [annotations.index_select(1, new_order)],
            PADDING: [padding.index_select(0, new_order)],
        }


@register_model("syntax_hybrid")
class SyntaxHybrid(CheckedHub, BaseFairseqModel):
    """Builds an encoder and a decoder of any two families.

    - `--encoder-family transformer`: with supervised heads, phrases and latent phrases in its
      layers, and a relation network on top (`--relation-kernels`).
    - `--encoder-family rnn`: GRUs, with relation networks or without.
    - `--decoder-family transformer`: with phrases, which it takes from a Transformer encoder, and
      latent phrases.
    - `--decoder-family rnn`: RNNsearch, RNNsearch* and the bi-scale decoder.

    If both are of one family, without a relation network on a Transformer, the model is that
    family's, with the same parameters and names. This class has no instances: fairseq registers
    classes and calls them to build models.
    """

    feature_options = SyntaxHybridOptions

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        """Adds the options of both families."""
        TransformerModel.add_args(parser)
        gen_parser_from_dataclass(parser, SyntaxHybridOptions(), delete_default=True)

    @classmethod
    def build_model(cls, args: Any, task: FairseqTask) -> SyntaxModel:
        """Builds the model that the options describe.

        Raises:
            UserError: options that contradict each other, or another task; one line says which.
        """
        return build_for_syntax_translation(build_of_families, args, task, "syntax_hybrid")


def build_of_families(args: Namespace, task: FairseqTask) -> SyntaxModel:
    """A `SyntaxRNNModel` if both families are RNN, otherwise a `SyntaxHybridModel`."""
    families = {half: str(getattr(args, f"{half}_family")) for half in HALVES}
    check_families(args, families)
    if families[DECODER] == RNN:
        prepare_for_rnn_decoder(args, task)
    if set(families.values()) == {RNN}:
        return SyntaxRNNModel.build_model(args, task)
    # A copy: fairseq fills in options of both halves of a Transformer, and checkpoints would store
    # them as the user's.
    return SyntaxHybridModel.build_model(Namespace(**vars(args)), task)


class SyntaxHybridModel(SyntaxTransformerModel):
    """A model of which at least one half is a Transformer; the other half may be an RNN."""

    feature_options = SyntaxHybridOptions

    @classmethod
    def build_encoder(
        cls, args: TransformerConfig, src_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> FairseqEncoder:
        """Builds the encoder.

        Args:
            args: fairseq's options of the Transformer, with all others.
            embed_tokens: V×E.
        """
        options = _recurrent_options(args)
        sizes = rnn_sizes(options)
        if _family(args, ENCODER) == RNN:
            encoder = build_encoder(
                options, sizes, src_dict, embed_tokens, RNNEncoderForTransformer
            )
            initialize(encoder.network, options)
            args.encoder.embed_dim = encoder.output_dim  # the width of the decoder's memory
            return encoder
        relation = None
        if sizes.kernels:
            relation = build_relation_network(args.encoder.embed_dim, options, sizes)
            initialize(relation, options)
        features = SyntaxTransformerOptions.from_namespace(args)
        for_rnn = _family(args, DECODER) == RNN
        return RelatingEncoder(args, src_dict, embed_tokens, features, relation, for_rnn)

    @classmethod
    def build_decoder(
        cls, args: TransformerConfig, tgt_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> FairseqDecoder:
        """Builds the decoder.

        Args:
            args: as of :meth:`build_encoder`, after it.
            embed_tokens: V×E; they begin as fairseq's do.

        Raises:
            UserError: options that contradict each other.
        """
        if _family(args, DECODER) == TRANSFORMER:
            if args.cross_self_attention and _family(args, ENCODER) == RNN:
                raise UserError(
                    "--cross-self-attention puts the source among the target's own states, which "
                    "are those of Transformers: give --encoder-family transformer, or leave it out"
                )
            _check_that_the_encoder_is_read(args)
            return super().build_decoder(args, tgt_dict, embed_tokens)
        options, embeddings = _recurrent_options(args), embed_tokens.weight.detach().clone()
        decoder = build_decoder(
            options, rnn_sizes(options), tgt_dict, embed_tokens, args.encoder.embed_dim
        )
        initialize(decoder, options)
        embed_tokens.weight.data.copy_(embeddings)
        return decoder


def _check_that_the_encoder_is_read(cfg: TransformerConfig) -> None:
    """Refuses options with which a Transformer decoder does not read the top of the encoder."""
    recurrent = _family(cfg, ENCODER) == RNN
    related = getattr(cfg, "relation_kernels", None) is not None
    if not (recurrent or related):
        return
    top = "the RNN encoder" if recurrent else "the relation network"
    if cfg.no_cross_attention and not cfg.cross_self_attention:
        raise UserError(
            f"--no-cross-attention: nothing would read {top}: leave --no-cross-attention out"
        )
    if getattr(cfg, "transparent_token_attention", False) and not recurrent:
        raise UserError(
            "--transparent-token-attention reads the layers of the Transformer, and nothing would "
            "read the relation network on top of them: leave one of them out"
        )


def _family(cfg: TransformerConfig, half: str) -> str:
    return str(getattr(cfg, f"{half}_family"))


def _recurrent_options(cfg: TransformerConfig) -> SyntaxRNNOptions:
    """The options of RNNs among fairseq's of the Transformer, where None = not given."""
    options = SyntaxRNNOptions()
    for option in fields(options):
        value = getattr(cfg, option.name, None)
        if value is not None:
            setattr(options, option.name, value)
    return options
