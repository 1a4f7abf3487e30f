"""The RNN family: GRU translators with additive attention, and methods behind options."""

from __future__ import annotations

from typing import Any

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import FairseqEncoderDecoderModel, register_model
from fairseq.tasks import FairseqTask
from torch import nn

from syntax_nmt.arguments import Parser
from syntax_nmt.backbone.initialization import initialize
from syntax_nmt.errors import UserError
from syntax_nmt.models.family_options import TRANSFORMER, refuse_while_parsing
from syntax_nmt.models.model_building import build_for_syntax_translation
from syntax_nmt.models.options import SyntaxRNNOptions
from syntax_nmt.models.rnn_parts import (
    build_decoder,
    build_encoder,
    check_target_padding,
    rnn_options,
)
from syntax_nmt.models.syntax_model import SyntaxModel
from syntax_nmt.models.word_vectors import load_embeddings


@register_model("syntax_rnn")
class SyntaxRNNModel(SyntaxModel, FairseqEncoderDecoderModel):
    """RNNsearch (Bahdanau et al., 2015) and models built on it.

    `--conditional-gru` is RNNsearch*, the decoder of the dl4mt tutorial; :mod:`syntax_nmt.methods`
    has the methods.

    All parameters start uniformly in (−0.1, 0.1), as in Zhang et al. (2018), or as
    `--initialization` says; norms start at 1 and 0.
    """

    feature_options = SyntaxRNNOptions

    @staticmethod
    def add_args(parser: Parser) -> None:
        """Adds the options of the family."""
        gen_parser_from_dataclass(parser, SyntaxRNNOptions(), delete_default=True)
        refuse_while_parsing(parser, TRANSFORMER)

    @classmethod
    def build_model(cls, args: Any, task: FairseqTask) -> SyntaxRNNModel:
        """Builds the model that the options describe.

        Raises:
            UserError: options that contradict each other, or another task; one line says which.
        """
        return build_for_syntax_translation(cls._build, args, task, "syntax_rnn")

    @classmethod
    def _build(cls, args: Any, task: FairseqTask) -> SyntaxRNNModel:
        check_target_padding(task)
        options, _ = rnn_options(args)
        source, target = task.source_dictionary, task.target_dictionary
        embed_tokens = nn.Embedding(len(source), options.encoder_embed_dim, source.pad())
        encoder = build_encoder(args, source, embed_tokens)
        embed_tokens = nn.Embedding(len(target), options.decoder_embed_dim, target.pad())
        if options.share_all_embeddings:
            if source != target:
                raise UserError(
                    "--share-all-embeddings: source and target have different dictionaries; "
                    "prepare the data with a joined one"
                )
            embed_tokens = encoder.embed_tokens
        decoder = build_decoder(args, target, embed_tokens, encoder.output_dim)
        model = cls(encoder, decoder)
        initialize(model, options.initialization)
        for name, stack, path in (
            ("encoder", encoder, options.encoder_embed_path),
            ("decoder", decoder, options.decoder_embed_path),
        ):
            if path is not None:
                load_embeddings(stack.embed_tokens, path, stack.dictionary, f"--{name}-embed-path")
        return model
