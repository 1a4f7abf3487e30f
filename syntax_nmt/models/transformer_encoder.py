"""The encoder of the Transformer family."""

from __future__ import annotations

from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerEncoderBase
from torch import Tensor, nn

from syntax_nmt.errors import UserError
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.transformer_layers import FusedEncoderLayer, wrap_layer
from syntax_nmt.modules.supervised_heads import (
    NO_SUPERVISED_HEADS,
    SUPERVISED_HEADS,
    supervised_head_log_probabilities,
)


class SyntaxTransformerEncoder(TransformerEncoderBase):
    """fairseq's Transformer encoder, with the features that :class:`SyntaxTransformerOptions` name.

    Args:
        cfg: fairseq's options of the Transformer.
        dictionary: of the source.
        embed_tokens: V×C.
        options: which features are on.

    Raises:
        UserError: options that contradict each other.
    """

    def __init__(
        self,
        cfg: TransformerConfig,
        dictionary: Dictionary,
        embed_tokens: nn.Embedding,
        options: SyntaxTransformerOptions,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens)
        self.supervised_layer = _supervised_layer(cfg, options)
        if self.supervised_layer is not None:
            self._check_that_weights_are_whole(self.layers[self.supervised_layer])
        for layer in self.layers:
            # fairseq 0.12.2 would take a shortcut round the layers at inference.
            layer.can_use_fastpath = False

    def build_encoder_layer(self, cfg: TransformerConfig) -> nn.Module:
        """Builds one layer.

        Args:
            cfg: fairseq's options of the Transformer.
        """
        return wrap_layer(FusedEncoderLayer(cfg), cfg)

    @staticmethod
    def _check_that_weights_are_whole(layer: nn.Module) -> None:
        """The supervised heads read weights outside the layer's forward pass."""
        if not isinstance(layer, FusedEncoderLayer):
            raise UserError(
                "--supervised-layer cannot be combined with --ddp-backend fully_sharded, which "
                "keeps a part of the weights on each worker; use pytorch_ddp or legacy_ddp"
            )

    def supervised_head_log_probabilities(self, encoder_out: dict[str, list[Tensor]]) -> Tensor:
        """Log-probabilities of the child and the parent head, B×2×S×S in float32.

        Args:
            encoder_out: of a forward pass with `return_all_hiddens`.

        Raises:
            UserError: the model has no supervised heads.
        """
        if self.supervised_layer is None:
            raise UserError(NO_SUPERVISED_HEADS)
        layer = self.layers[self.supervised_layer]
        x = encoder_out["encoder_states"][self.supervised_layer]  # the layer's input, S×B×C
        if layer.normalize_before:
            x = layer.self_attn_layer_norm(x)
        padding = encoder_out["encoder_padding_mask"][0]
        return supervised_head_log_probabilities(layer.self_attn, x, padding)


def _supervised_layer(cfg: TransformerConfig, options: SyntaxTransformerOptions) -> int | None:
    """Index of the supervised layer counted from the lowest, or None."""
    layer, layers = options.supervised_layer, cfg.encoder.layers
    if layer is None:
        return None
    if not -layers <= layer < layers:
        raise UserError(
            f"--supervised-layer {layer}: the encoder has {layers} layers; "
            f"give a number from {-layers} to {layers - 1}"
        )
    if cfg.encoder.attention_heads < SUPERVISED_HEADS:
        raise UserError(
            f"--supervised-layer needs a child head and a parent head, but "
            f"--encoder-attention-heads is {cfg.encoder.attention_heads}"
        )
    if cfg.encoder.layerdrop > 0:
        raise UserError("--supervised-layer cannot be combined with --encoder-layerdrop")
    return layer % layers
