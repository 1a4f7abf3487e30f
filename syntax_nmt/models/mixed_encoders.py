"""Encoders for a decoder of the other family, or with a relation network on top."""

from __future__ import annotations

from typing import Any

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_encoder import PADDING, STATES, RNNEncoder, rows_rearranged
from syntax_nmt.methods.relation_network.layer import RelationNetworkLayer
from syntax_nmt.models.options import SyntaxTransformerOptions
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
