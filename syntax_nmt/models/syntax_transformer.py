"""The Transformer family: fairseq's `transformer`, and syntax as features behind options."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from fairseq.data import Dictionary
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import register_model
from fairseq.models.transformer import TransformerConfig, TransformerModel
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from syntax_nmt.data.sides import HEADS
from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.models.checked_hub import CheckedHub
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.own_task import build_for_own_task
from syntax_nmt.models.structures import SOURCE_STRUCTURES, StructureLayers
from syntax_nmt.models.transformer_decoder import SyntaxTransformerDecoder
from syntax_nmt.models.transformer_encoder import SyntaxTransformerEncoder
from syntax_nmt.models.weights_of_another import WeightsOfAnother
from syntax_nmt.modules.linear_cross_entropy import LinearCrossEntropy


@register_model("syntax_transformer")
class SyntaxTransformerModel(CheckedHub, WeightsOfAnother, TransformerModel):
    """Transformer (Vaswani et al., 2017) that the methods of this package build on.

    With every feature off it is fairseq's `transformer`: the same parameter names, outputs and
    beams, so that a checkpoint of one loads into the other.

    - Supervised heads (`--supervised-layer`; Wang et al., 2019): two self-attention heads of one
      encoder layer are trained along the source dependency tree; see
      :mod:`syntax_nmt.criterions.dependency`.
    - Phrase representation (`--phrase-segmentation`; Xu et al., 2020): every layer attends to the
      vectors of the source's phrases, too; see :mod:`syntax_nmt.models.phrase_layers`.
    - Latent phrases (`--latent-phrase-layers`; Harada and Watanabe, 2021): the lowest layers attend
      within phrases that they induce; see :mod:`syntax_nmt.modules.phrase_gated_attention`.
    """

    feature_options = SyntaxTransformerOptions

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the options of the stock model and of the features.

        Args:
            parser: of the command line.
        """
        super().add_args(parser)
        gen_parser_from_dataclass(parser, SyntaxTransformerOptions(), delete_default=True)

    @classmethod
    def build_model(cls, args: Any, task: FairseqTask) -> SyntaxTransformerModel:
        """Builds the model that the options describe.

        Raises:
            UserError: options that contradict each other, or another task; one line says which.
        """
        return build_for_own_task(super().build_model, args, task, "syntax_transformer")

    @classmethod
    def build_encoder(
        cls, args: TransformerConfig, src_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> SyntaxTransformerEncoder:
        """Builds the encoder.

        Args:
            args: fairseq's options of the Transformer, which carry those of the features along.
            src_dict: the source vocabulary.
            embed_tokens: V×C.
        """
        options = SyntaxTransformerOptions.from_namespace(args)
        return SyntaxTransformerEncoder(args, src_dict, embed_tokens, options)

    @classmethod
    def build_decoder(
        cls, args: TransformerConfig, tgt_dict: Dictionary, embed_tokens: nn.Embedding
    ) -> SyntaxTransformerDecoder:
        """Builds the decoder.

        Args:
            args: fairseq's options of the Transformer, which carry those of the features along.
            tgt_dict: the target vocabulary.
            embed_tokens: V×C.
        """
        options = SyntaxTransformerOptions.from_namespace(args)
        return SyntaxTransformerDecoder(
            args, tgt_dict, embed_tokens, options, args.no_cross_attention
        )

    @property
    def reads_sides(self) -> tuple[SideKind, ...]:
        """The side information that the forward pass is to be given."""
        return self.encoder.reads_sides

    @property
    def learns_sides(self) -> tuple[SideKind, ...]:
        """The side information that parts of the model are trained with."""
        return () if self.encoder.supervised_layer is None else (HEADS,)

    @property
    def takes_token_loss(self) -> bool:
        """Whether :meth:`forward` can compute a loss in place of logits."""
        return isinstance(self.decoder.output_projection, nn.Linear)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        return_all_hiddens: bool = True,
        features_only: bool = False,
        alignment_layer: Optional[int] = None,
        alignment_heads: Optional[int] = None,
        structures: Optional[StructureLayers] = None,
        token_loss: Optional[LinearCrossEntropy] = None,
        **sides: Tensor,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Teacher-forced pass of training and validation; generators never call it.

        Args:
            src_tokens: B×S.
            src_lengths: B.
            prev_output_tokens: B×T.
            return_all_hiddens: keep the states of every layer.
            features_only: leave the output projection out.
            alignment_layer: the decoder layer whose cross-attention weights are wanted.
            alignment_heads: average them over the first so many heads only.
            token_loss: what to compute in place of logits.
            **sides: side information under the keys of its kinds; what is not read is passed over.

        Returns:
            logits, B×T×V, or what `token_loss` gives, and a dictionary; with supervised heads its
            `supervised_heads` has the log-probabilities of the child and the parent head, B×2×S×S;
            wanted structures are there under their names.
        """
        encoder_out = self.encoder(
            src_tokens,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
            **sides,
        )
        output, extra = self.decoder(
            prev_output_tokens,
            encoder_out=encoder_out,
            features_only=features_only or token_loss is not None,
            alignment_layer=alignment_layer,
            alignment_heads=alignment_heads,
            src_lengths=src_lengths,
            return_all_hiddens=return_all_hiddens,
            structures=structures,
        )
        if token_loss is not None:
            output = token_loss(output, self.decoder.output_projection)
        if structures is not None:
            extra.update({name: encoder_out[name] for name in SOURCE_STRUCTURES})
        if self.encoder.supervised_layer is not None and return_all_hiddens:
            extra["supervised_heads"] = self.encoder.supervised_head_log_probabilities(encoder_out)
        return output, extra
