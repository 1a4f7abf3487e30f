"""The RNN family: GRU translators with additive attention, and methods behind options."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import FairseqEncoderDecoderModel, register_model
from fairseq.tasks import FairseqTask
from torch import Tensor

from syntax_nmt.data.sides import CHUNKS
from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.errors import UserError
from syntax_nmt.models.bi_scale_decoder import BiScaleDecoder
from syntax_nmt.models.checked_hub import CheckedHub
from syntax_nmt.models.checkpoint_defaults import set_option
from syntax_nmt.models.own_task import build_for_own_task
from syntax_nmt.models.pretrained_embeddings import load_embeddings
from syntax_nmt.models.rnn_decoder import RNNDecoder
from syntax_nmt.models.rnn_encoder import RNNEncoder
from syntax_nmt.models.rnn_options import ORTHOGONAL, UNIFORM, SyntaxRNNOptions
from syntax_nmt.models.rnn_parts import build_decoder, build_encoder
from syntax_nmt.models.rnn_sizes import rnn_sizes
from syntax_nmt.models.weights_of_another import WeightsOfAnother
from syntax_nmt.modules.linear_cross_entropy import LinearCrossEntropy
from syntax_nmt.modules.orthogonal_start import start_orthogonal
from syntax_nmt.modules.uniform_start import start_uniform


@register_model("syntax_rnn")
class SyntaxRNNModel(CheckedHub, WeightsOfAnother, FairseqEncoderDecoderModel):
    """RNNsearch (Bahdanau et al., 2015) and what is built on it.

    - Conditional GRU (`--conditional-gru`): RNNsearch*, the decoder of the dl4mt tutorial.
    - Bi-scale decoder (`--bi-scale`; Zhou et al., 2017): a state of the chunk beside that of the
      word; see :mod:`syntax_nmt.models.bi_scale_decoder`.
    - Relation network (`--relation-kernels`; Zhang et al., 2018): an encoder in which every word
      exchanges a message with every other; see :mod:`syntax_nmt.models.relation_encoder`.

    All parameters begin uniform in (−0.1, 0.1), as in the paper on relation networks, or as
    `--initialization` says; norms begin at 1 and 0.
    """

    feature_options = SyntaxRNNOptions
    takes_token_loss = True  # the output layer is always a linear one

    def __init__(self, encoder: RNNEncoder, decoder: RNNDecoder) -> None:
        super().__init__(encoder, decoder)
        self.reads_sides: tuple[SideKind, ...] = ()
        self.side_labels: dict[SideKind, tuple[str, ...]] = {}
        if isinstance(decoder, BiScaleDecoder):
            self.reads_sides = (CHUNKS,)
            self.side_labels[CHUNKS] = decoder.chunk_tags
        self.learns_sides = self.reads_sides

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        """Adds the options of the family.

        Args:
            parser: of the command line.
        """
        gen_parser_from_dataclass(parser, SyntaxRNNOptions(), delete_default=True)

    @classmethod
    def build_model(cls, args: Any, task: FairseqTask) -> SyntaxRNNModel:
        """Builds the model that the options describe.

        Raises:
            UserError: options that contradict each other, or another task; one line says which.
        """
        model = build_for_own_task(cls._build, args, task, "syntax_rnn")
        if CHUNKS in model.reads_sides:
            set_option(args, "chunk_tags", " ".join(model.decoder.chunk_tags))
        return model

    @classmethod
    def _build(cls, args: Any, task: FairseqTask) -> SyntaxRNNModel:
        if task.cfg.left_pad_target:
            raise UserError(
                "--left-pad-target: a recurrent decoder would read the pads before the sentence, "
                "so that it depended on its batch; leave it out"
            )
        options = SyntaxRNNOptions.from_namespace(args)
        if options.bi_scale and options.chunk_tags is None:
            options.chunk_tags = " ".join(task.labels(CHUNKS))
        sizes = rnn_sizes(options)
        encoder = build_encoder(options, sizes, task.source_dictionary)
        decoder = build_decoder(options, sizes, task.target_dictionary, encoder)
        model = cls(encoder, decoder)
        start = {UNIFORM: start_uniform, ORTHOGONAL: start_orthogonal}
        start[str(options.initialization)](model)
        for side, path, freeze in (
            (encoder, options.encoder_embed_path, options.encoder_freeze_embed),
            (decoder, options.decoder_embed_path, options.decoder_freeze_embed),
        ):
            if path is not None:
                name = "encoder" if side is encoder else "decoder"
                load_embeddings(side.embed_tokens, path, side.dictionary, f"--{name}-embed-path")
            if freeze:
                side.embed_tokens.weight.requires_grad = False
        return model

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        features_only: bool = False,
        token_loss: Optional[LinearCrossEntropy] = None,
        **sides: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Teacher-forced pass of training and validation; generators never call it.

        Args:
            src_tokens: B×S.
            src_lengths: B.
            prev_output_tokens: B×T.
            features_only: leave the output layer out.
            token_loss: what to compute in place of logits.
            **sides: side information under the keys of its kinds; chunks of the target are read by
                the bi-scale decoder.

        Returns:
            logits B×T×V, or what `token_loss` gives, and a dictionary that holds `attn`: the
            attention weights, B×T×S.
        """
        encoder_out = self.encoder(src_tokens, src_lengths)
        read = [name for kind in self.reads_sides for name in kind.keys]
        chunks = {name: sides[name] for name in read if name in sides}
        features_only = features_only or token_loss is not None
        output, extra = self.decoder(
            prev_output_tokens, encoder_out, features_only=features_only, **chunks
        )
        if token_loss is not None:
            output = token_loss(output, self.decoder.output_projection)
        return output, extra
