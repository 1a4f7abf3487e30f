"""The decoder of the Transformer family."""

from __future__ import annotations

from fairseq.models.transformer import TransformerConfig, TransformerDecoderBase
from torch import Tensor, nn

from syntax_nmt.models.transformer_layers import FusedDecoderLayer, wrap_layer
from syntax_nmt.modules.fused_attention import IncrementalState

NO_LAYER = -1


class SyntaxTransformerDecoder(TransformerDecoderBase):
    """fairseq's Transformer decoder on fused attention.

    fairseq's own computes the cross-attention weights of its top layer in every call. Here they are
    computed where somebody wants them: with an `alignment_layer`, or in a search for alignments.
    """

    need_attn = False

    def prepare_for_search(self, beam_size: int, need_attn: bool) -> None:
        """Sets what a search needs; :class:`SyntaxTranslationTask` does so around each one.

        Args:
            beam_size: hypotheses a sentence; they share its cross-attention memory. 1 outside a
                search, because fairseq's modules would go on to take rows for hypotheses.
            need_attn: whether the search wants attention weights.
        """
        self.set_beam_size(beam_size)
        self.need_attn = need_attn

    def build_decoder_layer(
        self, cfg: TransformerConfig, no_encoder_attn: bool = False
    ) -> nn.Module:
        """Builds one layer.

        Args:
            cfg: fairseq's options of the Transformer.
            no_encoder_attn: leave the cross-attention out.
        """
        return wrap_layer(FusedDecoderLayer(cfg, no_encoder_attn), cfg)

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, list[Tensor]] | None,
        incremental_state: IncrementalState | None = None,
        full_context_alignment: bool = False,
        alignment_layer: int | None = None,
        alignment_heads: int | None = None,
    ) -> tuple[Tensor, dict[str, list[Tensor | None]]]:
        """The states of the top layer.

        Args:
            prev_output_tokens: B×T.
            encoder_out: of the encoder.
            incremental_state: the cache of incremental decoding.
            full_context_alignment: let every position see the whole target.
            alignment_layer: the layer whose cross-attention weights are wanted.
            alignment_heads: average over the first so many heads only.

        Returns:
            B×T×C, and a dictionary that holds `attn`: the weights, B×T×S, or None.
        """
        if alignment_layer is None and not self.need_attn:
            alignment_layer = NO_LAYER
        return super().extract_features(
            prev_output_tokens, encoder_out, incremental_state,
            full_context_alignment, alignment_layer, alignment_heads,
        )  # fmt: skip
