"""Attention to a memory so short that projecting it costs less than projecting each token."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention, IncrementalState
from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.backbone.numerics import EXACT


class MappedMemory(NamedTuple):
    """A memory of P vectors per sentence, for H heads of an attention; W has K rows.

    Attributes:
        keys: `W_qᵀ k / √D` of each head, B×C×(H·P).
        offsets: `b_q · k / √D`, −inf where masked, B×1×(H·P).
        values: `W W_o v` of each head, B×(H·P)×K.
        bias: `W b_o + b`, B×1×K.
    """

    keys: Tensor
    offsets: Tensor
    values: Tensor
    bias: Tensor


class MappedAttention(FusedMultiheadAttention):
    """`V x + b + W · MultiHead(x, memory)`, computed in the cheaper of two ways.

    Token by token, the projections of queries and outputs and the map cost `(2C + K) C`
    multiplications, K = rows of W. But `q · k = x · W_qᵀ k`, and `W W_o Σ_i a_i v_i` is
    `Σ_i a_i W W_o v_i`: all three can be applied to the memory instead. Then a token costs
    `H P (C + K)`: with C = 512, K = 2048 and eight phrases a ninth of that. Results are the same.

    A CPU uses the second way, in float32 and float64, if it needs fewer multiplications. A GPU uses
    the fused kernel.
    """

    def mapped(
        self,
        query: Tensor,
        memory: Tensor | None,
        padding: Tensor | None,
        incremental_state: IncrementalState | None,
        pair: LinearOfPair,
    ) -> Tensor:
        """Attends from each query position to the memory, maps the result and adds it to another.

        Args:
            query: T×B×C.
            memory: P×B×C, in a search a row a sentence; may be None if its projections are cached.
            padding: B×P, True = masked.
            incremental_state: the cache of incremental decoding.
            pair: V and b, C → K, and W, C → K.

        Returns:
            T·B×K, a row for each query.
        """
        cached = self._cached_memory(incremental_state)
        if cached is None:
            if memory is None or not self._is_short(query, memory, pair, incremental_state):
                attended, _ = self(
                    query, memory, memory, padding, incremental_state,
                    need_weights=False, static_kv=True,
                )  # fmt: skip
                return pair(query, attended)
            cached = self._map(memory, padding, pair)
            if incremental_state is not None:
                self._set_input_buffer(incremental_state, dict(cached._asdict()))
        return self._attend(query, cached, pair.first.weight)

    def _cached_memory(self, incremental_state: IncrementalState | None) -> MappedMemory | None:
        if incremental_state is None:
            return None
        cache = self._get_input_buffer(incremental_state)
        return MappedMemory(**cache) if "keys" in cache else None

    def _is_short(
        self, query: Tensor, memory: Tensor, pair: LinearOfPair, state: IncrementalState | None
    ) -> bool:
        """Whether mapping the memory costs less."""
        if query.is_cuda or query.dtype not in EXACT or torch.is_autocast_enabled("cpu"):
            return False
        if not all(map(is_plain, (self.q_proj, self.out_proj, pair.first))):
            return False
        width, rows = self.embed_dim, pair.second.out_features
        heads, phrases = self.num_heads, len(memory)
        saved = (2 * width + rows) * width - heads * phrases * (width + rows)
        if state is not None:  # asked at every step of a search
            return 2 * saved > (2 * width + rows) * width
        batch = memory.size(1) * phrases
        mapping = batch * width * (width + rows) + min(
            rows * width * width, batch * (heads - 1) * rows * width
        )
        return len(query) * query.size(1) * saved > mapping

    def _map(self, memory: Tensor, padding: Tensor | None, pair: LinearOfPair) -> MappedMemory:
        """Applies the three maps to the memory."""
        output, bias = pair.second, pair.first.bias
        heads = (self.num_heads, self.head_dim)
        k = self.k_proj(memory).unflatten(2, heads) * self.scaling  # P×B×H×D
        v = self.v_proj(memory).unflatten(2, heads)
        keys = torch.einsum("pbhd,hdc->bchp", k, self.q_proj.weight.unflatten(0, heads))
        offsets = torch.einsum("pbhd,hd->bhp", k, self.q_proj.bias.unflatten(0, heads))
        if padding is not None:
            offsets = offsets.masked_fill(padding.unsqueeze(1), float("-inf"))
        width, rows, batch = self.embed_dim, output.out_features, len(memory) * memory.size(1)
        if rows * width < batch * (width + (self.num_heads - 1) * rows):
            both = (output.weight @ self.out_proj.weight).unflatten(1, heads)  # K×H×D
            values = torch.einsum("pbhd,khd->bhpk", v, both)
        else:
            of_head = self.out_proj.weight.unflatten(1, heads)  # C×H×D
            values = output(torch.einsum("pbhd,chd->bhpc", v, of_head))
        bias = (output(self.out_proj.bias) + bias).expand(memory.size(1), 1, -1)
        return MappedMemory(
            keys.flatten(2), offsets.flatten(1).unsqueeze(1), values.flatten(1, 2), bias
        )

    def _attend(self, query: Tensor, memory: MappedMemory, onto: Tensor) -> Tensor:
        """Reads the mapped memory; hypotheses of one sentence, if there are any, side by side."""
        length, rows, width = query.shape
        x = query.view(length, len(memory.keys), -1, width).transpose(0, 1)  # B×T×hypotheses×C
        x = x.flatten(1, 2)
        logits = torch.baddbmm(memory.offsets, x, memory.keys)
        weights = F.softmax(logits.unflatten(2, (self.num_heads, -1)), dim=-1)
        weights = self.dropout_module(weights).flatten(2)
        # Added in place to the map of x: K numbers per token are written only once.
        found = F.linear(x, onto, memory.bias[0, 0]).baddbmm_(weights, memory.values)
        return found.unflatten(1, (length, -1)).transpose(0, 1).reshape(length * rows, -1)


def is_plain(projection: nn.Module) -> bool:
    """Whether a projection is only its weights; fairseq's quantisation noise acts in its calls.

    Args:
        projection: a linear map.
    """
    return isinstance(projection, nn.Linear) and not projection._forward_pre_hooks
