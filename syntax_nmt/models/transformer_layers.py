"""fairseq's Transformer layers with fused attention, wrapped as fairseq wraps its own."""

from __future__ import annotations

from typing import Any

from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from fairseq.modules.transformer_layer import (
    TransformerDecoderLayerBase,
    TransformerEncoderLayerBase,
)
from torch import nn

from syntax_nmt.modules.fused_attention import FusedMultiheadAttention


class FusedEncoderLayer(TransformerEncoderLayerBase):
    """fairseq's encoder layer on :class:`FusedMultiheadAttention`."""

    def build_self_attention(
        self, embed_dim: int, cfg: TransformerConfig
    ) -> FusedMultiheadAttention:
        """Builds the attention over the source.

        Args:
            embed_dim: C.
            cfg: fairseq's options of the Transformer.
        """
        return FusedMultiheadAttention(
            embed_dim,
            cfg.encoder.attention_heads,
            dropout=cfg.attention_dropout,
            self_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.encoder.xformers_att_config,
        )


class FusedDecoderLayer(TransformerDecoderLayerBase):
    """fairseq's decoder layer on :class:`FusedMultiheadAttention`.

    Weights of the cross-attention are computed only in a call that asks for them (fairseq's own
    layer computes them at every call in evaluation mode).
    """

    def __init__(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> None:
        super().__init__(cfg, no_encoder_attn)
        self.need_attn = False

    def make_generation_fast_(self, **kwargs: Any) -> None:
        """Leaves the layer as it is: the decoder decides who computes weights.

        Args:
            **kwargs: fairseq's settings of the generator.
        """

    def build_self_attention(
        self,
        embed_dim: int,
        cfg: TransformerConfig,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
    ) -> FusedMultiheadAttention:
        """Builds the attention over the target so far.

        Args:
            embed_dim: C.
            cfg: fairseq's options of the Transformer.
            add_bias_kv: not used by the Transformer.
            add_zero_attn: not used by the Transformer.
        """
        return FusedMultiheadAttention(
            embed_dim,
            cfg.decoder.attention_heads,
            causal=True,
            dropout=cfg.attention_dropout,
            self_attention=not cfg.cross_self_attention,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.decoder.xformers_att_config,
        )

    def build_encoder_attention(
        self, embed_dim: int, cfg: TransformerConfig
    ) -> FusedMultiheadAttention:
        """Builds the attention from the target to the source.

        Args:
            embed_dim: C.
            cfg: fairseq's options of the Transformer.
        """
        return FusedMultiheadAttention(
            embed_dim,
            cfg.decoder.attention_heads,
            kdim=cfg.encoder.embed_dim,
            vdim=cfg.encoder.embed_dim,
            dropout=cfg.attention_dropout,
            encoder_decoder_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.encoder.xformers_att_config,
        )


def wrap_layer(layer: nn.Module, cfg: TransformerConfig) -> nn.Module:
    """Applies activation checkpointing and fully sharded wrapping as the options say.

    Args:
        layer: an encoder or decoder layer.
        cfg: fairseq's options of the Transformer.
    """
    if cfg.checkpoint_activations:
        layer = checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations)
        return fsdp_wrap(layer, min_num_params=0)
    return fsdp_wrap(layer, min_num_params=cfg.min_params_to_wrap)
