"""Multi-head attention with torch's fused kernel unless weights are requested."""

from typing import Any, Optional

import torch
import torch.nn.functional as F
from fairseq.modules import MultiheadAttention
from torch import Tensor

from syntax_nmt.backbone.attention_kernels import AUTO, fused_attention
from syntax_nmt.backbone.attention_modifier import close_pads
from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.backbone.numerics import at_least_float32

IncrementalState = dict[str, dict[str, Optional[Tensor]]]


class FusedMultiheadAttention(MultiheadAttention):
    """Multi-head attention (Vaswani et al., 2017, section 3.2.2) on fused kernels.

    It has the parameters, names and results of fairseq's own module. fairseq's module uses the
    fused kernel only for self-attention outside incremental decoding; this one also uses it for
    cross-attention and at every step of incremental decoding. Weights, if asked for, are computed
    explicitly and are those before dropout.

    In beam search the hypotheses of a sentence attend to one shared copy of its keys and values
    (see `set_beam_size`, which fairseq defines).

    Args:
        embed_dim: C.
        num_heads: H.
        causal: a square `attn_mask` given to :meth:`forward` is always the mask of the future, as
            in a decoder, so that the kernel's own causal masking can replace it.
        scorer: has the queries and keys of one head.
        **kwargs: as of `fairseq.modules.MultiheadAttention`.

    Attributes:
        kernels: which fused kernels, of :data:`~.attention_kernels.ATTENTION_KERNELS`.
    """

    kernels = AUTO

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        causal: bool = False,
        scorer: Optional[HeadScorer] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(embed_dim, num_heads, **kwargs)
        self.causal = causal
        self.scorer = scorer

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, causal={self.causal}"

    def forward(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        key_padding_mask: Tensor | None = None,
        incremental_state: IncrementalState | None = None,
        need_weights: bool = True,
        static_kv: bool = False,
        attn_mask: Tensor | None = None,
        before_softmax: bool = False,
        need_head_weights: bool = False,
        bias: Tensor | None = None,
        factor: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from each query position to the keys.

        Args:
            query: T×B×C.
            key: S×B×C; may be None if `static_kv` keys are already cached. In a search static keys,
                values and their mask may have a row for each sentence, not for each hypothesis.
            value: S×B×C.
            key_padding_mask: B×S, True = masked.
            incremental_state: the cache of incremental decoding.
            need_weights: also return the weights, averaged over heads.
            static_kv: keys and values stay the same at every step of incremental decoding.
            attn_mask: T×S or B×H×T×S, added to the logits; −inf = masked. With a padding mask, too,
                queries are the last positions of the keys. A decoder's self-attention takes a T×T
                mask for the one that closes the future.
            before_softmax: return logits, by fairseq's own unfused path.
            need_head_weights: return the weights of each head.
            bias: of :class:`~syntax_nmt.backbone.attention_modifier.AttentionModifier`;
                `key_padding_mask` and `attn_mask` are not read then.
            factor: of :class:`~syntax_nmt.backbone.attention_modifier.AttentionModifier`. No
                fused kernel multiplies logits.

        Returns:
            the output, T×B×C, and the weights: None, B×T×S or H×B×T×S.
        """
        if before_softmax or self.use_xformers or self.onnx_trace:
            return super().forward(
                query, key, value, key_padding_mask, incremental_state, need_weights,
                static_kv, attn_mask, before_softmax, need_head_weights,
            )  # fmt: skip
        k, v, padding = self._keys_and_values(
            key, value, key_padding_mask, incremental_state, static_kv, query.size(1)
        )
        q = self._queries(query, k.size(0))
        if not (need_weights or need_head_weights or factor is not None):
            mask, causal = self._kernel_mask(padding, attn_mask, bias, q)
            attended = self._fused(q, k, v, mask, causal)
            return self._output(attended, len(query)), None
        mask = self._additive_mask(padding, attn_mask, q) if bias is None else bias.to(q)
        attended, weights = self._explicit(q, k, v, mask, factor)
        if not (need_weights or need_head_weights):
            return self._output(attended, len(query)), None
        weights = weights.unflatten(2, (-1, len(query))).transpose(1, 2).flatten(0, 1)
        weights = weights.transpose(0, 1) if need_head_weights else weights.mean(dim=1)
        return self._output(attended, len(query)), weights

    def is_cached(self, incremental_state: IncrementalState | None) -> bool:
        """Whether static keys and values have been projected already.

        Args:
            incremental_state: the cache of incremental decoding.
        """
        return incremental_state is not None and bool(self._get_input_buffer(incremental_state))

    def _queries(self, query: Tensor, sentences: int) -> Tensor:
        """T×B×C -> sentences×H×(hypotheses·T)×D; D is that of a scorer if it is wider."""
        q = self.q_proj(query)
        if self.scorer is not None:
            q = self.scorer.with_queries(query, q)
        return self._split_heads(q, sentences)

    def _keys(self, key: Tensor) -> Tensor:
        """S×B×C -> B×H×S×D, as wide as queries."""
        k = self.k_proj(key)
        if self.scorer is not None:
            k = self.scorer.with_keys(key, k)
        return self._split_heads(k, k.size(1))

    def _split_heads(self, x: Tensor, sentences: int) -> Tensor:
        """T×B×(H·D) -> sentences×H×(hypotheses·T)×D, where B = sentences · hypotheses."""
        length, rows, _ = x.shape
        x = x.view(length, sentences, rows // sentences, self.num_heads, -1)
        return x.permute(1, 3, 2, 0, 4).flatten(2, 3)

    def _keys_and_values(
        self,
        key: Tensor | None,
        value: Tensor | None,
        padding: Tensor | None,
        incremental_state: IncrementalState | None,
        static_kv: bool,
        rows: int,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Projects keys and values, or takes them from the cache, which it updates.

        Args:
            rows: how many the queries have: in a search one for each hypothesis.

        Returns:
            keys and values, B×H×S×D, and their padding mask, B×S with True = masked, or None.
            Static keys have one row per sentence in beam search, not one per hypothesis.
        """
        if incremental_state is None:
            assert key is not None
            assert value is not None
            k, v = self._keys(key), self.v_proj(value)
            return k, self._split_heads(v, v.size(1)), padding
        cache = self._get_input_buffer(incremental_state)
        if static_kv and "prev_key" in cache:
            return cache["prev_key"], cache["prev_value"], cache["prev_key_padding_mask"]
        assert key is not None
        assert value is not None
        if static_kv:
            key, value = (self._once_a_sentence(x, rows, dim=1) for x in (key, value))
            padding = None if padding is None else self._once_a_sentence(padding, rows, dim=0)
        k = self._keys(key)
        v = self._split_heads(self.v_proj(value), value.size(1))
        if "prev_key" in cache:
            k = torch.cat([cache["prev_key"], k], dim=2)
            v = torch.cat([cache["prev_value"], v], dim=2)
            padding = self._append_prev_key_padding_mask(
                padding, cache.get("prev_key_padding_mask"), k.size(0), k.size(2), static_kv
            )
        padding = None if padding is None else padding.bool()
        cache.update(prev_key=k, prev_value=v, prev_key_padding_mask=padding)
        self._set_input_buffer(incremental_state, cache)
        return k, v, padding

    def rows_of_a_sentence(self, incremental_state: IncrementalState | None) -> int:
        """How many rows of a batch share the keys of a sentence: in a search, its hypotheses."""
        return 1 if incremental_state is None else max(1, self.beam_size)

    def _once_a_sentence(self, x: Tensor, rows: int, dim: int) -> Tensor:
        """In a search, a row for each sentence of what has that, or one for each hypothesis.

        Args:
            rows: how many the queries have, one for each hypothesis.
        """
        if self.beam_size <= 1 or x.size(dim) < rows:
            return x
        return x.unflatten(dim, (-1, self.beam_size)).select(dim + 1, 0)

    def _output(self, attended: Tensor, length: int) -> Tensor:
        """Joins heads and hypotheses, B×H×(hypotheses·T)×D -> T×B×C, and projects."""
        attended = attended.unflatten(2, (-1, length)).permute(3, 0, 2, 1, 4)
        return self.out_proj(attended.reshape(length, -1, self.embed_dim))

    def _kernel_mask(
        self, padding: Tensor | None, attn_mask: Tensor | None, bias: Tensor | None, q: Tensor
    ) -> tuple[Tensor | None, bool]:
        """The masks in the cheapest form for the fused kernel, and whether the mask is causal."""
        if bias is not None:
            return bias.to(q), False
        if attn_mask is None:
            return None if padding is None else ~padding[:, None, None, :], False
        if not (self.causal and attn_mask.dim() == 2 and attn_mask.size(0) == attn_mask.size(1)):
            return self._additive_mask(padding, attn_mask, q), False
        if padding is None:
            return None, True
        # The diagonal stays open: the row of a pad needs a position to attend to.
        future = torch.ones_like(attn_mask, dtype=torch.bool).triu(1)
        mask = ~(future | padding[:, None, None, :])
        mask.diagonal(dim1=2, dim2=3).fill_(True)
        return mask, False

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """The output of the fused kernel without its projection, B×H×T×D."""
        return fused_attention(
            q, k, v, self.kernels, attn_mask=mask, dropout_p=self._dropout_probability(),
            is_causal=causal, scale=self.scaling,
        )  # fmt: skip

    def _dropout_probability(self) -> float:
        dropout = self.dropout_module
        return dropout.p if self.training or dropout.apply_during_inference else 0.0

    @staticmethod
    def _additive_mask(padding: Tensor | None, attn_mask: Tensor | None, q: Tensor) -> Tensor:
        """Both masks as one that is added to the logits, B×H×T×S (or smaller, to broadcast)."""
        if attn_mask is not None:
            return close_pads(attn_mask.to(q), padding)
        mask = q.new_zeros(1, 1)
        return mask if padding is None else mask.masked_fill(padding[:, None, None], float("-inf"))

    def _explicit(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, factor: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The output without its projection, B×H×T×D, and the weights, B×H×T×S, float32 at least.

        The logits are float32, too, as within the fused kernel: they may be too large for float16.
        """
        with torch.autocast(q.device.type, enabled=False):
            query, key = at_least_float32(q) * self.scaling, at_least_float32(k)
            logits = torch.matmul(query, key.transpose(2, 3))
            logits = logits if factor is None else logits * factor
            weights = F.softmax(logits + mask, dim=-1)
        return torch.matmul(self.dropout_module(weights.type_as(v)), v), weights
