"""The Transformer family: fairseq's `transformer`, with syntax extensions as options."""

from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import FairseqDecoder, FairseqEncoder, register_model
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModel,
)
from fairseq.modules import FairseqDropout, MultiheadAttention
from fairseq.modules.transformer_layer import (
    TransformerDecoderLayerBase,
    TransformerEncoderLayerBase,
)
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.arguments import DECODER, ENCODER, Parser
from syntax_nmt.backbone.transformer_extension import TransformerStack
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.methods import extensions_of
from syntax_nmt.methods.method import RNN, TRANSFORMER_DECODER, TRANSFORMER_ENCODER
from syntax_nmt.models.family_options import refuse_while_parsing
from syntax_nmt.models.model_building import build_for_syntax_translation
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.syntax_model import SyntaxModel
from syntax_nmt.models.transformer_decoder import SyntaxTransformerDecoder
from syntax_nmt.models.transformer_encoder import SyntaxTransformerEncoder
from syntax_nmt.models.word_vectors import load_embeddings

_WITH_TOP_NORM = 3.0  # the version of stacks that fairseq writes

# fairseq's `--retain-dropout-modules` chooses dropouts by the name of the class they are in.
_STOCK = {
    TransformerEncoderBase: "TransformerEncoder",
    TransformerDecoderBase: "TransformerDecoder",
    TransformerEncoderLayerBase: "TransformerEncoderLayerBase",
    TransformerDecoderLayerBase: "TransformerDecoderLayerBase",
    MultiheadAttention: "MultiheadAttention",
}


@register_model("syntax_transformer")
class SyntaxTransformerModel(SyntaxModel, TransformerModel):
    """Transformer (Vaswani et al., 2017) that the methods of this package build on.

    With every extension off it is fairseq's `transformer`: the same parameter names, outputs and
    beams, so that a checkpoint of one loads into the other. :mod:`syntax_nmt.methods` has the
    methods.
    """

    feature_options = SyntaxTransformerOptions

    def __init__(self, args: Any, encoder: FairseqEncoder, decoder: FairseqDecoder) -> None:
        _check_that_the_top_is_read(args, encoder, decoder)
        super().__init__(args, encoder, decoder)

    @classmethod
    def add_args(cls, parser: Parser) -> None:
        """Adds the options of the stock model and of the extensions."""
        super().add_args(parser)
        gen_parser_from_dataclass(parser, SyntaxTransformerOptions(), delete_default=True)
        refuse_while_parsing(parser, RNN)

    @classmethod
    def build_model(cls, args: Any, task: FairseqTask) -> SyntaxModel:
        """Builds the model that the options describe.

        Raises:
            UserError: options that contradict each other, or another task; one line says which.
        """
        model = build_for_syntax_translation(super().build_model, args, task, "syntax_transformer")
        _name_dropouts_as_in_fairseq(model)
        return model

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Brings weights of other versions of fairseq up to date.

        Args:
            state_dict: the weights by name, changed in place.
            name: prefix of the model's names.

        Raises:
            UserError: they lack the LayerNorm above the layers; a line says which.
        """
        for stack in (ENCODER, DECODER):
            # Averages of weights (`--store-ema`) have no versions. fairseq takes them for weights
            # of its first version, and drops the LayerNorm above the layers.
            prefix = f"{name}.{stack}" if name else stack
            has_norm = getattr(getattr(self, stack), "layer_norm", None) is not None
            if has_norm and f"{prefix}.version" not in state_dict:
                with exits_in_fairseq_programs():
                    if f"{prefix}.layer_norm.weight" not in state_dict:
                        raise UserError(
                            f"the weights lack {stack}.layer_norm, which averages of --store-ema "
                            "lost up to version 0.3.0: load those of the training itself"
                        )
                state_dict[f"{prefix}.version"] = torch.tensor([_WITH_TOP_NORM])
        super().upgrade_state_dict_named(state_dict, name)

    @classmethod
    def build_embedding(
        cls,
        args: TransformerConfig,
        dictionary: Dictionary,
        embed_dim: int,
        path: str | None = None,
    ) -> nn.Embedding:
        """Builds embeddings, V×C, as fairseq does, but checks a file that they start from.

        Args:
            args: fairseq's options of the Transformer.
            embed_dim: C.
            path: of the file; None = none.

        Raises:
            UserError: the file cannot be used; one line says why.
        """
        embedding = super().build_embedding(args, dictionary, embed_dim)
        if path:
            given = (path, embed_dim)
            encodes = given == (args.encoder.embed_path, args.encoder.embed_dim)
            option = "--encoder-embed-path" if encodes else "--decoder-embed-path"
            load_embeddings(embedding, path, dictionary, option)
        return embedding

    @classmethod
    def build_encoder(
        cls, args: TransformerConfig, src_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> SyntaxTransformerEncoder:
        """Builds the encoder.

        Args:
            args: fairseq's options of the Transformer, with those of the extensions.
            src_dict: the source vocabulary.
            embed_tokens: V×C.
        """
        stack = TransformerStack(args, ENCODER, src_dict)
        return SyntaxTransformerEncoder(
            stack, embed_tokens, extensions_of(TRANSFORMER_ENCODER, args, stack)
        )

    @classmethod
    def build_decoder(
        cls, args: TransformerConfig, tgt_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> SyntaxTransformerDecoder:
        """Builds the decoder.

        Args:
            args: fairseq's options of the Transformer, with those of the extensions.
            tgt_dict: the target vocabulary.
            embed_tokens: V×C.
        """
        stack = TransformerStack(args, DECODER, tgt_dict)
        extensions = extensions_of(TRANSFORMER_DECODER, args, stack)
        return SyntaxTransformerDecoder(stack, embed_tokens, extensions, args.no_cross_attention)


def _check_that_the_top_is_read(
    cfg: TransformerConfig, encoder: FairseqEncoder, decoder: FairseqDecoder
) -> None:
    """Refuses options with which the decoder does not read what stands on top of the encoder."""
    top = next((each.on_top for each in encoder.extensions if each.on_top), "")
    if not top or not isinstance(decoder, SyntaxTransformerDecoder):
        return
    if cfg.no_cross_attention and not cfg.cross_self_attention:
        raise UserError(
            f"--no-cross-attention: nothing would read {top}: leave --no-cross-attention out"
        )
    lower = [each.reads_lower_layers for each in decoder.extensions if each.reads_lower_layers]
    if lower:
        raise UserError(
            f"{lower[0]} reads the layers of the Transformer, and nothing would read {top} on top "
            "of them: leave one of them out"
        )


def _name_dropouts_as_in_fairseq(model: nn.Module) -> None:
    """Gives inherited dropouts the names that they have in fairseq.

    fairseq names a dropout after its class, which is a subclass here.
    """
    for module in model.modules():
        for base, name in _STOCK.items():
            if isinstance(module, base):
                for child in module.children():
                    if isinstance(child, FairseqDropout):
                        child.module_name = name
