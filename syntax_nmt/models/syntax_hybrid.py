"""Encoders and decoders of either family in one model, with all methods."""

from collections.abc import Sequence
from typing import Any

from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import BaseFairseqModel, FairseqDecoder, FairseqEncoder, register_model
from fairseq.models.transformer import TransformerConfig, TransformerModel
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.arguments import DECODER, ENCODER, Namespace, Parser
from syntax_nmt.backbone.initialization import initialize
from syntax_nmt.backbone.rnn_encoder import RNNEncoder
from syntax_nmt.backbone.rnn_interface import PADDING, STATES
from syntax_nmt.backbone.transformer_extension import TransformerStack
from syntax_nmt.errors import UserError
from syntax_nmt.methods import extensions_of
from syntax_nmt.methods.method import RNN, TRANSFORMER, TRANSFORMER_ENCODER
from syntax_nmt.models.checked_hub import CheckedHub
from syntax_nmt.models.family_options import STACKS, check_families
from syntax_nmt.models.model_building import build_for_syntax_translation
from syntax_nmt.models.options import SyntaxHybridOptions
from syntax_nmt.models.rnn_parts import (
    build_decoder,
    build_encoder,
    check_target_padding,
    rnn_options,
)
from syntax_nmt.models.syntax_model import SyntaxModel
from syntax_nmt.models.syntax_rnn import SyntaxRNNModel
from syntax_nmt.models.syntax_transformer import SyntaxTransformerModel
from syntax_nmt.models.transformer_encoder import SyntaxTransformerEncoder


class RNNEncoderForTransformer(RNNEncoder):
    """An RNN encoder under a Transformer decoder, which reads the source's states once for each
    hypothesis.
    """

    def reorder_encoder_out(
        self, encoder_out: dict[str, list[Tensor]], new_order: Tensor
    ) -> dict[str, list[Tensor]]:
        """Rearranges what `forward` returned, as a search rearranges its hypotheses.

        Args:
            encoder_out: of `forward`.
            new_order: the row that goes to each place.
        """
        (encoded,), (padding,) = encoder_out[STATES], encoder_out[PADDING]
        return {
            STATES: [encoded.index_select(1, new_order)],
            PADDING: [padding.index_select(0, new_order)],
        }


@register_model("syntax_hybrid")
class SyntaxHybrid(CheckedHub, BaseFairseqModel):
    """Builds an encoder and a decoder of any two families.

    Each stack has the methods of its family, and those that stand on any encoder. If both are of
    one family, the model is that family's, with the same parameters and names. This class has no
    instances: fairseq registers classes and calls them to build models.
    """

    feature_options = SyntaxHybridOptions

    @staticmethod
    def add_args(parser: Parser) -> None:
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
    families = {stack: str(getattr(args, f"{stack}_family")) for stack in STACKS}
    check_families(args, families)
    if families[DECODER] == RNN:
        check_target_padding(task)
    if set(families.values()) == {RNN}:
        return SyntaxRNNModel.build_model(args, task)
    # A copy: fairseq fills in options of both stacks of a Transformer, and checkpoints would store
    # them as the user's.
    return SyntaxHybridModel.build_model(Namespace(**vars(args)), task)


class SyntaxHybridModel(SyntaxTransformerModel):
    """A model of which at least one stack is a Transformer; the other stack may be an RNN."""

    feature_options = SyntaxHybridOptions

    @classmethod
    def build_encoder(
        cls, args: TransformerConfig, src_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> FairseqEncoder:
        """Builds the encoder.

        Args:
            args: fairseq's options of the Transformer, with all others.
            embed_tokens: V×E; they begin as fairseq's do.
        """
        options, _ = rnn_options(args)
        how = options.initialization
        if _family(args, ENCODER) == RNN:
            encoder = build_encoder(args, src_dict, embed_tokens, RNNEncoderForTransformer)
            tables = [each for each in encoder.modules() if isinstance(each, nn.Embedding)]
            _initialize(encoder, how, tables)
            args.encoder.embed_dim = encoder.output_dim  # the width of the decoder's memory
            return encoder
        under_transformer = _family(args, DECODER) == TRANSFORMER
        stack = TransformerStack(args, ENCODER, src_dict, under_transformer, how)
        return SyntaxTransformerEncoder(
            stack, embed_tokens, extensions_of(TRANSFORMER_ENCODER, args, stack)
        )

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
            if _family(args, ENCODER) == RNN:
                _check_that_the_states_are_read(args)
            return super().build_decoder(args, tgt_dict, embed_tokens)
        options, _ = rnn_options(args)
        decoder = build_decoder(args, tgt_dict, embed_tokens, args.encoder.embed_dim)
        _initialize(decoder, options.initialization, [embed_tokens])
        return decoder


def _initialize(stack: nn.Module, how: str, kept: Sequence[nn.Embedding]) -> None:
    """Initialises a recurrent encoder or decoder but for some embeddings, as fairseq began them."""
    begun = [each.weight.detach().clone() for each in kept]
    initialize(stack, how)
    for each, weight in zip(kept, begun):
        each.weight.data.copy_(weight)


def _check_that_the_states_are_read(cfg: TransformerConfig) -> None:
    """Refuses options with which a Transformer decoder does not read an RNN encoder."""
    if cfg.cross_self_attention:
        raise UserError(
            "--cross-self-attention puts the source among the target's own states, which "
            "are those of Transformers: give --encoder-family transformer, or leave it out"
        )
    if cfg.no_cross_attention:
        raise UserError("--no-cross-attention: nothing would read the RNN encoder: leave it out")


def _family(cfg: TransformerConfig, stack: str) -> str:
    return str(getattr(cfg, f"{stack}_family"))
