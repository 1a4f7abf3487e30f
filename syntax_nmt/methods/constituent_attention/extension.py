"""Constituents in the layers of a Transformer encoder, and in a decoder's attention to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.fused_attention import IncrementalState
from syntax_nmt.backbone.packing import once_a_sentence, rearranged_rows
from syntax_nmt.backbone.transformer_extension import (
    TransformerDecoderExtension,
    TransformerEncoderExtension,
    TransformerStack,
)
from syntax_nmt.backbone.transformer_layers import BuildAttention
from syntax_nmt.data.annotation import TREES
from syntax_nmt.errors import UserError
from syntax_nmt.methods.constituent_attention.accumulation import Constituents
from syntax_nmt.methods.constituent_attention.attention import (
    ConstituentCrossAttention,
    ConstituentDecoderLayer,
    ConstituentEncoderLayer,
    ConstituentSelfAttention,
    ValueSettings,
)
from syntax_nmt.methods.constituent_attention.options import (
    ACCUMULATED,
    ALL,
    BOTH,
    HORIZONTAL,
    VERTICAL,
    ConstituentAttentionOptions,
)
from syntax_nmt.option_checks import refuse_together

_NODES, _STRUCTURE, _ROWS = "constituent_nodes", "constituents", "constituent_rows"


class EncoderConstituents(TransformerEncoderExtension):
    """States of constituents behind those of tokens, in every layer.

    Attributes:
        hands_on: a decoder reads them.
    """

    option = "--constituent-attention"
    reads = (TREES,)

    def __init__(self, options: ConstituentAttentionOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        self.hands_on = options.constituent_attention == BOTH
        self.all_read_all = options.constituent_mask == ALL
        if self.hands_on and not stack.under_transformer:
            raise UserError(
                "--constituent-attention both: an RNN decoder reads tokens alone: give "
                "--constituent-attention encoder --constituent-mask all"
            )
        if not (self.hands_on or self.all_read_all):
            raise UserError(
                "--constituent-attention encoder with --constituent-mask subtree: neither tokens "
                "nor the decoder would read constituents: give --constituent-mask all, or "
                "--constituent-attention both"
            )
        refuse_together(
            self.option, stack.cfg,
            "encoder_layerdrop", "encoder_xformers_att_config", "base_layers",
        )  # fmt: skip

    def attention(self, layer: int) -> BuildAttention:
        """Self-attention over tokens and constituents."""
        return partial(
            ConstituentSelfAttention,
            settings=value_settings(self.options),
            tokens_read_all=self.all_read_all,
        )

    def layer(self, number: int, cfg: TransformerConfig, attention: BuildAttention) -> nn.Module:
        """A layer over tokens and constituents.

        Args:
            number: of the layer, from 0, the lowest.
            cfg: fairseq's options of the Transformer.
        """
        return ConstituentEncoderLayer(cfg, attention, is_lowest=number == 0)

    def arguments(self, source: Source) -> Mapping[str, Any]:
        """The constituents of the sentences, and what they attend to.

        Raises:
            UserError: trees are missing; one line says how to get them.
        """
        trees = TREES.tensor_in(source.annotation)
        settings = value_settings(self.options)
        constituents = Constituents.of(
            trees, source.tokens.size(1), settings.vertical, settings.horizontal
        )
        bias = constituents.attention_bias(source.padding, self.all_read_all)
        return {"constituents": constituents, "constituent_bias": bias}

    def outputs(
        self,
        out: dict[str, list[Tensor]],
        layers: Sequence[Any],
        arguments: Mapping[str, Any],
        encoder: Any,
    ) -> None:
        """Takes the constituents out of the states, and hands them to a decoder that reads them.

        Args:
            layers: not read.
            arguments: of :meth:`arguments`.
            encoder: not read.
        """
        constituents: Constituents = arguments["constituents"]
        length = constituents.covers.size(2)
        (states,) = out["encoder_out"]
        out["encoder_out"] = [states[:length]]
        out["encoder_states"] = [each[:length] for each in out["encoder_states"]]
        if self.hands_on:
            out[_NODES], out[_STRUCTURE] = [states[length:]], list(constituents)

    def reorder(
        self, before: dict[str, list[Tensor]], after: dict[str, list[Tensor]], order: Tensor
    ) -> None:
        """Rearranges the numbers of rows: a search reads constituents only once.

        Args:
            before: what the encoder returned.
            after: its rearranged form.
            order: the row that goes to each place.
        """
        if self.hands_on:
            after[_NODES], after[_STRUCTURE] = before[_NODES], before[_STRUCTURE]
            after[_ROWS] = rearranged_rows(before.get(_ROWS), order)


class DecoderConstituents(TransformerDecoderExtension):
    """Cross-attention to tokens and constituents, in every layer."""

    option = "--constituent-attention both"

    def __init__(self, options: ConstituentAttentionOptions, stack: TransformerStack) -> None:
        super().__init__(options, stack)
        refuse_together(
            self.option, stack.cfg,
            "decoder_layerdrop", "no_cross_attention", "cross_self_attention",
            "decoder_xformers_att_config",
        )  # fmt: skip

    @classmethod
    def is_on(cls, options: ConstituentAttentionOptions, stack: TransformerStack) -> bool:
        """Whether the decoder reads constituents, too."""
        return options.constituent_attention == BOTH

    def layer(
        self, cfg: TransformerConfig, no_encoder_attn: bool, attention: BuildAttention
    ) -> nn.Module:
        """A layer whose cross-attention reads constituents.

        Args:
            cfg: fairseq's options of the Transformer.
            no_encoder_attn: omit the cross-attention.
        """
        cross = partial(ConstituentCrossAttention, settings=value_settings(self.options))
        return ConstituentDecoderLayer(cfg, no_encoder_attn, attention, cross)

    def arguments(
        self,
        layers: Any,
        encoder_out: dict[str, list[Tensor]] | None,
        incremental_state: IncrementalState | None,
    ) -> Iterable[Mapping[str, Any]]:
        """The arguments `nodes` and `constituents` of :class:`ConstituentDecoderLayer`: in a search
        once a sentence, as its hypotheses share them.

        Args:
            layers: of the decoder; they cache the projections of constituents in a search.
            encoder_out: of the encoder; constituents are not read once they are cached.
        """
        nodes = constituents = None
        attention: ConstituentCrossAttention = layers[0].encoder_attn
        if not attention.is_cached(incremental_state):
            assert encoder_out is not None
            rows = encoder_out.get(_ROWS), attention.rows_of_a_sentence(incremental_state)
            nodes = once_a_sentence(encoder_out[_NODES][0], *rows, dim=1)
            constituents = Constituents(
                *(once_a_sentence(x, *rows) for x in encoder_out[_STRUCTURE])
            )
        return [{"nodes": nodes, "constituents": constituents}] * len(layers)


def value_settings(options: ConstituentAttentionOptions) -> ValueSettings:
    """What the values of constituents are made of."""
    accumulates = options.constituent_values == ACCUMULATED
    embeddings = options.constituent_embeddings
    return ValueSettings(
        accumulates=accumulates,
        vertical=accumulates and embeddings in (BOTH, VERTICAL),
        horizontal=accumulates and embeddings in (BOTH, HORIZONTAL),
    )
