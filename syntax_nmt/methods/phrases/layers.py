"""Transformer layers whose tokens also attend to the source's phrases (Xu et al., 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from fairseq.models.transformer import TransformerConfig
from fairseq.modules import LayerNorm
from torch import Tensor

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention, IncrementalState
from syntax_nmt.backbone.layer_hooks import EncoderLayerOutput
from syntax_nmt.backbone.transformer_layers import (
    BuildAttention,
    FusedDecoderLayer,
    FusedEncoderLayer,
)
from syntax_nmt.methods.phrases.combination import AttentiveCombination
from syntax_nmt.methods.phrases.mapped_attention import MappedAttention
from syntax_nmt.methods.phrases.representation import PhraseRepresentation
from syntax_nmt.methods.phrases.segmentation import PhraseBatch


@dataclass(frozen=True)
class PhraseSizes:
    """What defines the phrase sublayers of encoder and decoder.

    Attributes:
        summary: `max` or `mean`.
        hidden_dim: rows of W1; None = no attention within the phrase.
        combine_dim: rows of W3; None = the layer's FFN width.
        residual_attention: see :class:`AttentiveCombination`.
        literal_sigmoid: see :class:`AttentiveCombination`.
        eos_apart: in an n-gram segmentation EOS is a separate phrase.
    """

    summary: str
    hidden_dim: int | None
    combine_dim: int | None
    residual_attention: bool
    literal_sigmoid: bool
    eos_apart: bool


class PhraseEncoderLayer(FusedEncoderLayer):
    """Phrase cross-attention → combination → self-attention → FFN.

    The phrases are those of the layer's own input, as the phrase sublayer reads it: normalised in a
    pre-norm layer.

    Args:
        cfg: fairseq's options of the Transformer.
        build_attention: builds the self-attention, that of a method or the plain one.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        sizes: PhraseSizes,
        build_attention: BuildAttention = FusedMultiheadAttention,
    ) -> None:
        super().__init__(cfg, build_attention)
        self.phrase_representation = PhraseRepresentation(
            self.embed_dim, sizes.summary, sizes.hidden_dim
        )
        self.phrase_combination = _build_combination(
            cfg, sizes, self.embed_dim, cfg.encoder.attention_heads, cfg.encoder.ffn_embed_dim
        )
        self.phrase_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def forward(  # type: ignore[override]  # phrases, too
        self,
        x: Tensor,
        encoder_padding_mask: Tensor | None,
        *,
        wanted: Sequence[str] = (),
        phrases: PhraseBatch,
        **change: Tensor,
    ) -> EncoderLayerOutput:
        """The layer's output, the vectors of its input's phrases and other structures.

        Args:
            x: S×B×C.
            encoder_padding_mask: B×S, True = pad.
            wanted: of the self-attention, as of :class:`FusedEncoderLayer`.
            phrases: which tokens make up which phrase.
            **change: of the self-attention, members of
                :class:`~syntax_nmt.backbone.attention_modifier.AttentionModifier`.
        """
        residual = x
        if self.normalize_before:
            x = self.phrase_layer_norm(x)
        vectors = self.phrase_representation(x, phrases)
        x = self.phrase_combination(x, vectors, phrases.padding)
        x = self.residual_connection(x, residual)
        if not self.normalize_before:
            x = self.phrase_layer_norm(x)
        output = super().forward(x, encoder_padding_mask, wanted=wanted, **change)
        if isinstance(output, Tensor):
            output = EncoderLayerOutput(output)
        return output._replace(more=vectors, attention_input=x)


class PhraseDecoderLayer(FusedDecoderLayer):
    """Self-attention → phrase cross-attention → combination → source cross-attention → FFN.

    Args:
        cfg: fairseq's options of the Transformer.
        no_encoder_attn: omit the source cross-attention.
        build_attention: builds the self-attention, that of a method or the plain one.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        sizes: PhraseSizes,
        no_encoder_attn: bool = False,
        build_attention: BuildAttention = FusedMultiheadAttention,
    ) -> None:
        super().__init__(cfg, no_encoder_attn, build_attention)
        self.phrase_combination = _build_combination(
            cfg, sizes, self.embed_dim, cfg.decoder.attention_heads, cfg.decoder.ffn_embed_dim
        )
        self.phrase_layer_norm = LayerNorm(self.embed_dim, export=cfg.export)

    def sublayers(
        self,
        x: Tensor,
        encoder_out: Tensor | None = None,
        encoder_padding_mask: Tensor | None = None,
        incremental_state: IncrementalState | None = None,
        *,
        self_attn_mask: Tensor | None = None,
        self_attn_padding_mask: Tensor | None = None,
        need_attn: bool = False,
        need_head_weights: bool = False,
        phrases: Tensor | None,
        phrase_padding: Tensor | None,
        tokens: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None, None]:
        """The layer's output and, if wanted, the weights of the source cross-attention.

        Args:
            x: T×B×C.
            encoder_out: S×B×C.
            encoder_padding_mask: B×S, True = pad.
            incremental_state: the cache of incremental decoding.
            self_attn_mask: T×T, added to the logits of the self-attention.
            self_attn_padding_mask: B×T, True = pad.
            need_attn: return the weights of the source cross-attention, averaged over heads.
            need_head_weights: return those of each head.
            phrases: P×B×C, in a search a row a sentence; may be None once their projections are
                cached.
            phrase_padding: B×P, True = no phrase.
            tokens: what the source cross-attention reads in place of `encoder_out`, S×B×C, in a
                search a row a sentence.

        Returns:
            T×B×C, the weights or None, and None for a state that only fairseq's ONNX export has.
        """
        # fairseq's layer runs its sublayers in one method, with no hook between self-attention and
        # source cross-attention, where phrases are read: so the sublayers are called here one by
        # one.
        residual, weights = x, None
        x = self._before(self.self_attn_layer_norm, x)
        x, _ = self.self_attn(
            query=x, key=x, value=x, key_padding_mask=self_attn_padding_mask,
            incremental_state=incremental_state, need_weights=False, attn_mask=self_attn_mask,
        )  # fmt: skip
        x = self._after(self.self_attn_layer_norm, self.dropout_module(x), residual)

        residual = x
        x = self._before(self.phrase_layer_norm, x)
        x = self.phrase_combination(x, phrases, phrase_padding, incremental_state)
        x = self._after(self.phrase_layer_norm, x, residual)

        if self.encoder_attn is not None:
            residual = x
            x = self._before(self.encoder_attn_layer_norm, x)
            memory = encoder_out if tokens is None else tokens
            x, weights = self.encoder_attn(
                query=x, key=memory, value=memory, key_padding_mask=encoder_padding_mask,
                incremental_state=incremental_state, static_kv=True,
                need_weights=need_attn, need_head_weights=need_head_weights,
            )  # fmt: skip
            x = self._after(self.encoder_attn_layer_norm, self.dropout_module(x), residual)

        residual = x
        x = self._before(self.final_layer_norm, x)
        x = self.activation_dropout_module(self.activation_fn(self.fc1(x)))
        x = self._after(self.final_layer_norm, self.dropout_module(self.fc2(x)), residual)
        return x, weights, None

    def _before(self, norm: torch.nn.Module, x: Tensor) -> Tensor:
        """The input of a sublayer."""
        return norm(x) if self.normalize_before else x

    def _after(self, norm: torch.nn.Module, x: Tensor, residual: Tensor) -> Tensor:
        """The output of a sublayer."""
        x = self.residual_connection(x, residual)
        return x if self.normalize_before else norm(x)


def _build_combination(
    cfg: TransformerConfig, sizes: PhraseSizes, embed_dim: int, heads: int, ffn_dim: int
) -> AttentiveCombination:
    """The combination of a layer of width `embed_dim`; phrases are as wide as the encoder."""
    attention = MappedAttention(
        embed_dim,
        heads,
        kdim=cfg.encoder.embed_dim,
        vdim=cfg.encoder.embed_dim,
        dropout=cfg.attention_dropout,
        encoder_decoder_attention=True,
        q_noise=cfg.quant_noise.pq,
        qn_block_size=cfg.quant_noise.pq_block_size,
    )
    return AttentiveCombination(
        attention,
        sizes.combine_dim or ffn_dim,
        cfg.dropout,
        float(cfg.activation_dropout or cfg.relu_dropout or 0.0),  # as in fairseq's FFN
        sizes.residual_attention,
        sizes.literal_sigmoid,
    )
