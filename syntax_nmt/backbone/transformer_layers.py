"""fairseq's Transformer layers with fused attention, wrapped as fairseq wraps its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from fairseq.modules.transformer_layer import (
    TransformerDecoderLayerBase,
    TransformerEncoderLayerBase,
)
from torch import Tensor, nn

from syntax_nmt.backbone.attention_modifier import AttentionModifier
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.layer_hooks import (
    DecoderLayerOutput,
    EncoderLayerOutput,
    captured_layer_outputs,
    extra_layer_inputs,
)

BuildAttention = Callable[..., FusedMultiheadAttention]
"""Builds an attention from the arguments of :class:`FusedMultiheadAttention`."""


class FusedEncoderLayer(TransformerEncoderLayerBase):
    """fairseq's encoder layer on :class:`FusedMultiheadAttention`.

    Args:
        cfg: fairseq's options of the Transformer.
        build_attention: builds the self-attention, that of a method or the plain one.
    """

    def __init__(
        self, cfg: TransformerConfig, build_attention: BuildAttention = FusedMultiheadAttention
    ) -> None:
        self.build_attention = build_attention
        super().__init__(cfg)

    def build_self_attention(
        self, embed_dim: int, cfg: TransformerConfig
    ) -> FusedMultiheadAttention:
        """Builds the attention over the source.

        Args:
            embed_dim: C.
            cfg: fairseq's options of the Transformer.
        """
        return self.build_attention(
            embed_dim,
            cfg.encoder.attention_heads,
            dropout=cfg.attention_dropout,
            self_attention=True,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
            xformers_att_config=cfg.encoder.xformers_att_config,
        )

    def forward(
        self,
        x: Tensor,
        encoder_padding_mask: Tensor | None,
        *,
        wanted: Sequence[str] = (),
        **change: Any,
    ) -> Tensor | EncoderLayerOutput:
        """The layer's output, and structures of its self-attention if requested.

        Args:
            x: S×B×C.
            encoder_padding_mask: B×S, True = pad.
            wanted: what to return of the self-attention, of :data:`~.structures.DISTANCES`, which
                needs gates, and :data:`~.structures.ATTENTION`.
            **change: of the self-attention, members of :class:`AttentionModifier`, and what that
                of a method takes.

        Returns:
            only S×B×C if no structure is requested.
        """
        with _changing(self.self_attn, change):
            if not wanted:
                return super().forward(x, encoder_padding_mask)
            with _observing(self.self_attn, wanted) as observed:
                x = super().forward(x, encoder_padding_mask)
        attention, distances = observed()
        return EncoderLayerOutput(x, distances=distances, attention=attention)


class FusedDecoderLayer(TransformerDecoderLayerBase):
    """fairseq's decoder layer on :class:`FusedMultiheadAttention`.

    Weights of the cross-attention are computed only in a call that asks for them (fairseq's own
    layer computes them at every call in evaluation mode).

    Args:
        cfg: fairseq's options of the Transformer.
        no_encoder_attn: omit the cross-attention.
        build_attention: builds the self-attention, that of a method or the plain one.
        build_cross_attention: the same of the attention to the source.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        no_encoder_attn: bool = False,
        build_attention: BuildAttention = FusedMultiheadAttention,
        build_cross_attention: BuildAttention = FusedMultiheadAttention,
    ) -> None:
        self.build_attention = build_attention
        self.build_cross_attention = build_cross_attention
        super().__init__(cfg, no_encoder_attn)
        self.need_attn = False

    def forward(
        self,
        *args: Any,
        wanted: Sequence[str] = (),
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor | None, None] | DecoderLayerOutput:
        """The layer's output, and structures of its self-attention if requested.

        Args:
            *args: as of fairseq's own layer.
            wanted: what to return of the self-attention, of :data:`~.structures.DISTANCES`, which
                needs gates, and :data:`~.structures.ATTENTION`.
            **kwargs: as of fairseq's own layer; and members of :class:`AttentionModifier`, for the
                self-attention.

        Returns:
            fairseq's triple if no structure is requested.
        """
        change = {x: kwargs.pop(x) for x in AttentionModifier._fields if x in kwargs}
        with _changing(self.self_attn, change):
            if not wanted:
                return self.sublayers(*args, **kwargs)
            with _observing(self.self_attn, wanted) as observed:
                output = self.sublayers(*args, **kwargs)
        attention, distances = observed()
        return DecoderLayerOutput(*output, distances=distances, attention=attention)

    def sublayers(self, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor | None, None]:
        """Runs the sublayers one after another.

        Args:
            *args: as of fairseq's own layer.
            **kwargs: as of fairseq's own layer.
        """
        return super().forward(*args, **kwargs)

    def make_generation_fast_(self, **kwargs: Any) -> None:
        """Does nothing: the decoder decides which layers compute weights.

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
        return self.build_attention(
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
        return self.build_cross_attention(
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
    """Applies activation checkpointing and fully sharded wrapping according to the options.

    Args:
        layer: an encoder or decoder layer.
        cfg: fairseq's options of the Transformer.
    """
    if cfg.checkpoint_activations:
        layer = checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations)
        return fsdp_wrap(layer, min_num_params=0)
    return fsdp_wrap(layer, min_num_params=cfg.min_params_to_wrap)


def _changing(attention: nn.Module, change: dict[str, Any]) -> AbstractContextManager[None]:
    """Within the context, the attention that fairseq's layer calls also gets a change.

    fairseq's layers have no argument for it. Their own `attn_mask` cannot carry a bias: the encoder
    layer replaces all its nonzero values by one large negative number.
    """
    return extra_layer_inputs([attention], [change]) if change else nullcontext()


@contextmanager
def _observing(
    attention: nn.Module, wanted: Sequence[str]
) -> Iterator[Callable[[], tuple[Tensor | None, Tensor | None]]]:
    """Within the context, keeps further outputs of an attention that fairseq's layer calls once.

    Yields:
        a function for the attention's weights and distances after the call; None if not requested.
    """
    needs = dict.fromkeys(wanted, True)
    with (
        extra_layer_inputs([attention], [needs]),
        captured_layer_outputs([attention], passed_on=2) as outputs,
    ):

        def observed() -> tuple[Tensor | None, Tensor | None]:
            ((_, weights, *distances),) = outputs
            return weights, distances[0] if distances else None

        yield observed
