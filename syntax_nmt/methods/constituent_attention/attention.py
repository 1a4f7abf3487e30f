"""Attention with constituents among keys and queries, and the layers around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention, IncrementalState
from syntax_nmt.backbone.layer_hooks import EncoderLayerOutput, extra_layer_inputs
from syntax_nmt.backbone.transformer_layers import (
    BuildAttention,
    FusedDecoderLayer,
    FusedEncoderLayer,
)
from syntax_nmt.methods.constituent_attention.accumulation import Accumulation, Constituents


@dataclass(frozen=True)
class ValueSettings:
    """What the values of constituents are made of.

    Attributes:
        accumulates: they are those of :class:`Accumulation`, not projections of states alone.
        vertical: of the embeddings, as there.
        horizontal: likewise.
    """

    accumulates: bool
    vertical: bool
    horizontal: bool


class ConstituentAttention(FusedMultiheadAttention):
    """Attention whose keys are tokens and constituents.

    Queries and keys of constituents are projections of their states, as those of tokens.

    Args:
        *args: of :class:`FusedMultiheadAttention`.
        settings: of the values of constituents.
        **kwargs: likewise.
    """

    def __init__(self, *args: Any, settings: ValueSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.accumulation = None
        if settings.accumulates:
            self.accumulation = Accumulation(
                self.kdim, self.num_heads, self.head_dim, settings.vertical, settings.horizontal
            )

    def _all_keys_and_values(self, x: Tensor, constituents: Constituents) -> tuple[Tensor, Tensor]:
        """Keys and values of tokens, then of constituents, B×H×(S+P)×D each.

        Args:
            x: their states, (S+P)×B×C.
        """
        keys = self._keys(x)
        values = self._split_heads(self.v_proj(x), x.size(1))
        if self.accumulation is not None:
            length = constituents.covers.size(2)
            gathered = self.accumulation(x[:length], values, constituents)
            values = torch.cat([values[:, :, :length], gathered], dim=2)
        return keys, values

    def _reads(
        self, query: Tensor, known: IncrementalState, **how: Any
    ) -> tuple[Tensor, Tensor | None]:
        """The attention to what :meth:`_keep` has put into a cache.

        Args:
            query: T×B×C.
            **how: of :meth:`FusedMultiheadAttention.forward`.
        """
        return super().forward(query, None, None, None, known, static_kv=True, **how)

    def _keep(
        self, known: IncrementalState, keys: Tensor, values: Tensor, padding: Tensor | None
    ) -> IncrementalState:
        """Puts projected keys and values into a cache, where the attention finds static ones.

        Args:
            padding: B×K, True = masked.
        """
        entry = self._get_input_buffer(known)
        entry.update(prev_key=keys, prev_value=values, prev_key_padding_mask=padding)
        self._set_input_buffer(known, entry)
        return known


class ConstituentSelfAttention(ConstituentAttention):
    """Self-attention of an encoder over tokens and constituents.

    Args:
        *args: of :class:`ConstituentAttention`.
        tokens_read_all: tokens read constituents, too.
        **kwargs: likewise.
    """

    def __init__(self, *args: Any, tokens_read_all: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tokens_read_all = tokens_read_all

    def forward(  # type: ignore[override]  # constituents, too
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        *,
        constituents: Constituents,
        constituent_bias: Tensor,
        bias: Tensor | None = None,
        factor: Tensor | None = None,
        **how: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from tokens and constituents.

        Args:
            query: states of tokens, then of constituents, (S+P)×B×C.
            key: the same.
            value: the same.
            key_padding_mask: of tokens, B×S, True = pad.
            constituent_bias: of :meth:`Constituents.attention_bias`.
            bias: of the logits of tokens to tokens, B×H×S×S.
            factor: of the same logits, B×H×S×S or smaller to broadcast.
            **how: of :meth:`FusedMultiheadAttention.forward`.

        Returns:
            the output, (S+P)×B×C, and the weights of tokens to all that they read.
        """
        length = constituents.covers.size(2)
        keys, values = self._all_keys_and_values(query, constituents)
        read, padding = (keys[:, :, :length], values[:, :, :length]), key_padding_mask
        if self.tokens_read_all:
            read, padding = (keys, values), _joined_padding(padding, constituents)
            bias = None if bias is None else _wider_bias(bias, padding, constituents.missing)
            factor = None if factor is None else _wider_factor(factor, length, keys.size(2))
        tokens, weights = self._reads(
            query[:length], self._keep({}, *read, padding), bias=bias, factor=factor, **how
        )
        nodes, _ = self._reads(
            query[length:],
            self._keep({}, keys, values, None),
            bias=constituent_bias,
            need_weights=False,
        )
        return torch.cat([tokens, nodes]), weights


class ConstituentCrossAttention(ConstituentAttention):
    """Attention of a decoder to the tokens and constituents of the source."""

    def forward(  # type: ignore[override]  # constituents, too
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        incremental_state: IncrementalState | None = None,
        *,
        static_kv: bool = True,
        nodes: Tensor | None,
        constituents: Constituents | None,
        **how: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends to tokens and constituents.

        Args:
            query: T×B×C.
            key: states of tokens, S×B×C.
            value: the same.
            key_padding_mask: of tokens, B×S, True = pad.
            incremental_state: the cache of incremental decoding.
            static_kv: always so; fairseq's layer says it.
            nodes: states of constituents, P×B×C, in a search once a sentence; None = a search has
                cached their projections.
            constituents: the same.
            **how: of :meth:`FusedMultiheadAttention.forward`.

        Returns:
            the output, T×B×C, and the weights of tokens and constituents.
        """
        known: IncrementalState = {} if incremental_state is None else incremental_state
        if not self.is_cached(known):
            assert nodes is not None
            assert constituents is not None
            step = self.rows_of_a_sentence(incremental_state)
            keys, values = self._all_keys_and_values(
                torch.cat([key[:, ::step], nodes]), constituents
            )
            padding = None if key_padding_mask is None else key_padding_mask[::step]
            self._keep(known, keys, values, _joined_padding(padding, constituents))
        return self._reads(query, known, **how)


def _joined_padding(padding: Tensor | None, constituents: Constituents) -> Tensor:
    """The mask of tokens, then of constituents, B×(S+P), True = masked."""
    covers, missing = constituents.covers, constituents.missing
    if padding is None:
        padding = missing.new_zeros(len(missing), covers.size(2))
    return torch.cat([padding.bool(), missing], dim=1)


def _wider_bias(bias: Tensor, padding: Tensor, missing: Tensor) -> Tensor:
    """A bias of tokens to tokens, B×H×S×S, as one to constituents, too, which it leaves as is.

    Where it closes tokens to a query, as of a head with one key a query, it closes constituents as
    well.

    Args:
        padding: B×(S+P), True = masked.
        missing: B×P, True = no constituent.
    """
    real = ~padding[:, None, None, : bias.size(3)]
    confined = (bias.isneginf() & real).any(dim=3, keepdim=True)
    closed = confined | missing[:, None, None]
    added = torch.zeros_like(closed, dtype=bias.dtype).masked_fill(closed, float("-inf"))
    return torch.cat([bias, added], dim=3)


def _wider_factor(factor: Tensor, tokens: int, keys: int) -> Tensor:
    """A factor of tokens to tokens as one to constituents, too, which it leaves as is."""
    of_tokens = factor.expand(*factor.shape[:-1], tokens)
    return F.pad(of_tokens, (0, keys - tokens), value=1.0)


class ConstituentEncoderLayer(FusedEncoderLayer):
    """An encoder layer over tokens and constituents.

    The lowest puts the constituents behind the tokens: one learned vector is the state of all of
    them, as large as a token's embedding.

    Args:
        cfg: fairseq's options of the Transformer.
        build_attention: builds a :class:`ConstituentSelfAttention`.
        is_lowest: gets states of tokens alone.
    """

    def __init__(
        self, cfg: TransformerConfig, build_attention: BuildAttention, is_lowest: bool
    ) -> None:
        super().__init__(cfg, build_attention)
        self.constituent: nn.Parameter | None = None
        if is_lowest:
            width = cfg.encoder.embed_dim
            self.constituent = nn.Parameter(torch.randn(width) * width**-0.5)
            self.constituent_scale = 1.0 if cfg.no_scale_embedding else width**0.5

    def forward(  # type: ignore[override]  # constituents, too
        self,
        x: Tensor,
        encoder_padding_mask: Tensor | None,
        *,
        constituents: Constituents,
        **more: Any,
    ) -> Tensor | EncoderLayerOutput:
        """The states of tokens and constituents, (S+P)×B×C, as of :class:`FusedEncoderLayer`.

        Weights of the self-attention, if requested, are those of tokens to tokens.

        Args:
            x: of tokens and constituents, (S+P)×B×C; in the lowest layer of tokens, S×B×C.
            encoder_padding_mask: B×S, True = pad.
            constituents: P a sentence, some of them missing.
            **more: further arguments of :class:`FusedEncoderLayer`.
        """
        if self.constituent is not None:
            nodes = (self.constituent * self.constituent_scale).type_as(x)
            nodes = nodes.expand(constituents.missing.size(1), x.size(1), -1)
            x = torch.cat([x, self.dropout_module(nodes)])
        output = super().forward(x, encoder_padding_mask, constituents=constituents, **more)
        if isinstance(output, Tensor) or output.attention is None:
            return output
        of_tokens = output.attention[..., : constituents.covers.size(2)]
        return output._replace(attention=of_tokens)


class ConstituentDecoderLayer(FusedDecoderLayer):
    """A decoder layer whose cross-attention reads constituents, too."""

    def sublayers(
        self,
        x: Tensor,
        encoder_out: Tensor,
        *args: Any,
        nodes: Tensor | None,
        constituents: Constituents | None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor | None, None]:
        """Runs the sublayers one after another.

        Args:
            x: T×B×C.
            encoder_out: states of tokens, S×B×C.
            *args: as of fairseq's own layer.
            nodes: of :class:`ConstituentCrossAttention`.
            constituents: likewise.
            **kwargs: as of fairseq's own layer.

        Returns:
            as of fairseq's own layer; the weights of the cross-attention are those of tokens.
        """
        memory = {"nodes": nodes, "constituents": constituents}
        with extra_layer_inputs([self.encoder_attn], [memory]):
            x, weights, state = super().sublayers(x, encoder_out, *args, **kwargs)
        return x, None if weights is None else weights[..., : len(encoder_out)], state
