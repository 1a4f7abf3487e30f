"""Self-attention inside latent phrases, and their syntactic distances (Harada and Watanabe, 2021,
section 4.1).
"""

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from syntax_nmt.backbone.attention_modifier import joined_biases
from syntax_nmt.backbone.block_size import BlockSize
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention, IncrementalState
from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.methods.latent_phrases.gates import log_phrase_gates


class SyntacticDistance(nn.Module):
    """`d_i = tanh(W [k_{i−M}; …; k_i] + b)`, the height of the gap before position i.

    A convolution over a head's own keys that reads only earlier positions, so that a decoder can
    use it. Each head has its own weights. Before the start of the sentence the keys are zeros.

    Args:
        num_heads: H.
        head_dim: D.
        lookback: M of the equation; the convolution has lookback + 1 taps.
    """

    def __init__(self, num_heads: int, head_dim: int, lookback: int) -> None:
        super().__init__()
        self.lookback = lookback
        # The first tap is that of the key `lookback` positions back.
        self.weight = nn.Parameter(torch.empty(num_heads, head_dim, lookback + 1))
        self.bias = nn.Parameter(torch.empty(num_heads, 1))
        bound = 1 / math.sqrt(head_dim * (lookback + 1))
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        heads, head_dim, _ = self.weight.shape
        return f"num_heads={heads}, head_dim={head_dim}, lookback={self.lookback}"

    def forward(self, keys: Tensor, padding: Tensor | None) -> Tensor:
        """The distances of all positions.

        Args:
            keys: B×H×S×D.
            padding: B×S, True = pad, which no position reads; its own distance means nothing.

        Returns:
            B×H×S between −1 and 1, in float32 at least.
        """
        exact = exact_type(keys)
        with torch.autocast(keys.device.type, enabled=False):  # autocast would use 16 bits
            taps = torch.matmul(keys.to(exact), self.weight.to(exact))  # B×H×S×(lookback+1)
        if padding is not None:
            taps = taps.masked_fill(padding[:, None, :, None], 0.0)
        length = keys.size(2)
        taps = F.pad(taps, (0, 0, self.lookback, 0))
        summed = sum(
            (taps[:, :, tap : tap + length, tap] for tap in range(self.lookback + 1)),
            start=self.bias.to(taps),
        )
        return torch.tanh(summed)

    def of_last(self, keys: Tensor) -> Tensor:
        """The distance of only the last position, for a search step.

        Args:
            keys: B×H×S×D without pads, the last lookback + 1 at most.

        Returns:
            B×H×1, as :meth:`forward` gives it.
        """
        exact = exact_type(keys)
        taps = self.weight[..., -keys.size(2) :].transpose(1, 2).to(exact)
        summed = (keys.to(exact) * taps).sum(dim=(2, 3)).unsqueeze(2)
        return torch.tanh(summed + self.bias.to(exact))


# Pairs of positions, over all sentences and heads, whose gates and weights are in memory at once;
# on a GPU 256 MB a tensor in float32. What fewer parts gain there is not measured.
_PAIRS = BlockSize(cpu=2**23, gpu=2**26)


class PhraseGatedAttention(FusedMultiheadAttention):
    """Multi-head self-attention whose weights are gated by syntactic distances: equations 4 to 6.

    The distances come from the keys, the gates from the distances, and the gates enter the fused
    kernel as a bias of the logits. Incremental decoding projects one key and computes one distance
    per step; both are cached and follow the beam.

    Gates and weights take several S×S tensors per head. For long sentences they are computed for
    some heads at a time, and again in the backward pass.

    Args:
        embed_dim: C.
        num_heads: H.
        lookback: how many positions back a distance looks, M of equation 4.
        temperature: τ.
        alpha: α, `hardtanh` or `sigmoid`.
        causal: as in a decoder: the future is masked.
        **kwargs: as of :class:`FusedMultiheadAttention`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        lookback: int,
        temperature: float,
        alpha: str,
        causal: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(embed_dim, num_heads, causal, **kwargs)
        self.syntactic_distance = SyntacticDistance(num_heads, self.head_dim, lookback)
        self.temperature = temperature
        self.alpha = alpha

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"{super().extra_repr()}, temperature={self.temperature}, alpha={self.alpha}"

    def forward(  # type: ignore[override]
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
        need_distances: bool = False,
    ) -> tuple[Tensor, Tensor | None] | tuple[Tensor, Tensor | None, Tensor]:
        """Attends from each position to those within its phrases.

        Args:
            query: T×B×C.
            key: T×B×C, the same.
            value: T×B×C, the same.
            key_padding_mask: B×T, True = masked.
            incremental_state: the cache of incremental decoding.
            need_weights: also return the weights, averaged over heads.
            static_kv: not for self-attention.
            attn_mask: T×T, added to the logits; −inf = masked. A causal attention needs no mask of
                the future.
            before_softmax: not supported: the gates act after the softmax.
            need_head_weights: return the weights of each head.
            bias: of :class:`~syntax_nmt.backbone.attention_modifier.AttentionModifier`, joined
                to the gates'.
            factor: of :class:`~syntax_nmt.backbone.attention_modifier.AttentionModifier`. It
                multiplies the logits; gates are added.
            need_distances: also return the distances.

        Returns:
            the output, T×B×C; the weights: None, B×T×T or H×B×T×T; and the distances, B×H×T, if
            asked for.
        """
        k, v, padding = self._keys_and_values(
            key, value, key_padding_mask, incremental_state, False, query.size(1)
        )
        distances = self._distances(k[..., : self.head_dim], padding, incremental_state)
        q = self._queries(query, k.size(0))
        if bias is None:
            bias = None if self.causal else attn_mask
        weights = None
        if need_weights or need_head_weights or factor is not None:
            gates = self._gates_and_bias(q, distances, bias, padding)
            attended, of_heads = self._explicit(q, k, v, gates, factor)
            if need_head_weights:
                weights = of_heads.transpose(0, 1)
            elif need_weights:
                weights = of_heads.mean(dim=1)
        else:
            attended = self._attended_in_parts(q, k, v, distances, bias, padding)
        output = self._output(attended, len(query))
        return (output, weights, distances) if need_distances else (output, weights)

    def _gates_and_bias(
        self, q: Tensor, distances: Tensor, bias: Tensor | None, padding: Tensor | None
    ) -> Tensor:
        """What is added to the logits, B×H×T×S."""
        gates = log_phrase_gates(
            distances, padding, both_directions=not self.causal, temperature=self.temperature,
            alpha=self.alpha, queries=q.size(2),
        ).to(q)  # fmt: skip
        return gates if bias is None else joined_biases(gates, bias.to(q))

    def _attended(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        distances: Tensor,
        bias: Tensor | None,
        padding: Tensor | None,
    ) -> Tensor:
        """The output of some heads before the last projection, B×H×T×D."""
        return self._fused(q, k, v, self._gates_and_bias(q, distances, bias, padding))

    def _attended_in_parts(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        distances: Tensor,
        bias: Tensor | None,
        padding: Tensor | None,
    ) -> Tensor:
        """The output of all heads; for long sentences some heads at a time."""
        heads = max(1, _PAIRS.on(q.device) // (q.size(0) * q.size(2) * k.size(2)))
        if heads >= q.size(1):
            return self._attended(q, k, v, distances, bias, padding)
        parts = zip(*(x.split(heads, dim=1) for x in (q, k, v, distances)))
        biases: Iterable[Tensor | None] = repeat(None)
        if bias is not None:
            biases = bias.expand(*q.shape[:2], -1, -1).split(heads, dim=1)
        attended: Callable[..., Tensor] = self._attended
        if torch.is_grad_enabled():
            attended = partial(
                checkpoint, attended, use_reentrant=False,
                preserve_rng_state=self._dropout_probability() > 0,
            )  # fmt: skip
        return torch.cat([attended(*x, y, padding) for x, y in zip(parts, biases)], dim=1)

    def _distances(
        self, keys: Tensor, padding: Tensor | None, incremental_state: IncrementalState | None
    ) -> Tensor:
        """The distances of all keys, B×H×S; in incremental decoding only new ones are computed."""
        if incremental_state is None:
            return self.syntactic_distance(keys, padding)
        cache = self._get_input_buffer(incremental_state)
        known = cache.get("prev_distances")
        if known is None:
            distances = self.syntactic_distance(keys, padding)
        else:
            new = keys.size(2) - known.size(2)
            window = slice(-(new + self.syntactic_distance.lookback), None)
            if new == 1 and padding is None:
                latest = self.syntactic_distance.of_last(keys[:, :, window])
            else:
                seen = None if padding is None else padding[:, window]
                latest = self.syntactic_distance(keys[:, :, window], seen)[..., -new:]
            distances = torch.cat([known, latest], dim=2)
        cache["prev_distances"] = distances
        self._set_input_buffer(incremental_state, cache)
        return distances
