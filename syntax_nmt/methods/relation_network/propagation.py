"""Relations between all words of a sentence (Zhang et al., 2018, equations 8, 9)."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from syntax_nmt.backbone.block_size import BlockSize
from syntax_nmt.backbone.linear_of_pair import LinearOfPair
from syntax_nmt.backbone.numerics import exact_type
from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.methods.relation_network.convolutions import SLOPE

_HIDDEN_LAYERS = 4
# Defaults: numbers in a hidden layer of a block, and numbers stored for the backward pass, 256 MB
# and 1 GB in float32.
_BLOCK = BlockSize(cpu=2**18, gpu=2**23)
_KEPT = BlockSize(cpu=2**26, gpu=2**28)


class GraphPropagation(nn.Module):
    """The GP layer of a relation network: `r_i = 1/n Σ_j MLP([c_i ; c_j])` over the n real words j.

    The MLP has 4 hidden layers, each followed by LeakyReLU(0.1). The products of the first,
    `W_a c_i + W_b c_j + b`, are computed once per word instead of once per pair.

    A CPU computes only pairs of real words, those of sentences of one size together. A GPU computes
    padded sentences: it would wait for the many small blocks longer than for the pairs with pads.
    Both go block by block. The first `kept_pairs` pairs of a batch
    (all of them if sentences are short) store their values for the backward pass. The backward pass
    recomputes later blocks, one at a time, so that memory does not grow with n². On a CPU,
    recomputation makes training of the layer about 40 % slower.

    Args:
        input_dim: width of c.
        hidden_dim: width of all layers of the MLP.
        block: maximal number of pairs computed at a time; the pairs of one word are never divided.
            None = as many as make hidden layers of 2¹⁸ numbers, and 2²³ on a GPU.
        kept_pairs: pairs of a batch whose hidden layers are kept for the backward pass, at
            4·hidden_dim numbers each. None = as many as take 2²⁶ numbers, and 2²⁸ on a GPU.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        block: int | None = None,
        kept_pairs: int | None = None,
    ) -> None:
        super().__init__()
        self.block = block
        self.kept_pairs = kept_pairs
        self.of_pair = LinearOfPair(input_dim, input_dim, hidden_dim)  # W_a, W_b, b
        self.hidden = nn.ModuleList(
            nn.Linear(hidden_dim, hidden_dim) for _ in range(_HIDDEN_LAYERS - 1)
        )

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"block={self.block}, kept_pairs={self.kept_pairs}"

    def forward(self, words: Tensor, rows: PackedRows) -> Tensor:
        """The mean relation of each word to all words.

        Args:
            words: c, N×input_dim, the real positions as :meth:`PackedRows.take` gives them.
            rows: where the batch's words are.

        Returns:
            r, N×hidden_dim.
        """
        first, second = self.of_pair.first(words), self.of_pair.second(words)
        hidden_dim = self.of_pair.first.out_features
        block = _BLOCK.on(words.device) // hidden_dim if self.block is None else self.block
        kept_pairs = self.kept_pairs
        if kept_pairs is None:
            kept_pairs = _KEPT.on(words.device) // (_HIDDEN_LAYERS * hidden_dim)
        padded = self.pads_on(words.device)
        blocks: Iterator[tuple[Tensor, ...]]
        if padded:
            blocks = _padded_blocks(rows.put(first), rows.put(second), rows.padding, block)
        else:
            blocks = _blocks(first, second, rows.lengths[::-1], block)
        pairs, means = 0, []
        for each in blocks:
            pairs += each[0].size(0) * each[0].size(1) * each[1].size(2)
            if pairs <= kept_pairs or not torch.is_grad_enabled():
                mean = self._mean_message(*each)
            else:
                mean = checkpoint(
                    self._mean_message, *each, use_reentrant=False, preserve_rng_state=False
                )
            means.append(mean.flatten(0, 1))
        received = torch.cat(means) if means else words.new_zeros(0, hidden_dim)
        return rows.take(received.view(*rows.padding.shape, -1)) if padded else received

    @staticmethod
    def pads_on(device: torch.device) -> bool:
        """Whether padded sentences are computed."""
        return device.type != "cpu"

    def _mean_message(self, first: Tensor, second: Tensor, share: Tensor | None = None) -> Tensor:
        """The mean relations of some words i to all words j.

        Args:
            first: W_a c_i + b, sentences × i × 1 × hidden_dim.
            second: W_b c_j, sentences × 1 × j × hidden_dim.
            share: of each word j in the mean, sentences × 1 × j × 1; None = equal ones.

        Returns:
            sentences × i × hidden_dim.
        """
        pairs = F.leaky_relu_(first + second, SLOPE)
        # A row for each pair: autograd copies the gradient of a view that is changed in place.
        message = pairs.flatten(0, 2)
        for layer in self.hidden:
            message = F.leaky_relu_(layer(message), SLOPE)
        message = message.view_as(pairs)
        return message.mean(dim=2) if share is None else (message * share).sum(dim=2)


def _padded_blocks(
    first: Tensor, second: Tensor, padding: Tensor, block: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Cuts the pairs of padded sentences: some sentences, or some words of a long one.

    Args:
        first: B×S×hidden_dim.
        second: B×S×hidden_dim.
        padding: B×S, True = pad.
        block: as of :func:`_blocks`.

    Yields:
        the arguments of :meth:`GraphPropagation._mean_message`.
    """
    size, real = padding.size(1), ~padding
    shares = real.to(exact_type(first)) / real.sum(dim=1, keepdim=True).clamp(min=1)
    most = max(1, block // size**2)
    split = (each.split(most) for each in (first, second, shares.to(first.dtype)))
    for rows, columns, share in zip(*split):
        for part in rows.unsqueeze(2).split(max(1, block // size), dim=1):
            yield part, columns.unsqueeze(1), share[:, None, :, None]


def _blocks(
    first: Tensor, second: Tensor, sizes: Sequence[int], block: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Cuts the pairs of a batch: whole sentences of one size, or some words of a long sentence.

    Args:
        first: N×hidden_dim.
        second: N×hidden_dim.
        sizes: words of each sentence.
        block: maximal number of pairs in a block, unless one word has more.

    Yields:
        sentences × i × 1 × hidden_dim, the next words of `first`, and sentences × 1 × j ×
        hidden_dim, all of `second` in their sentences.
    """
    groups = []
    for size, alike in groupby(size for size in sizes if size):
        left = sum(1 for _ in alike)
        most = max(1, block // size**2)
        groups += [(min(most, left - done), size) for done in range(0, left, most)]
    # One split for all: the gradient of each separate slice would be N×hidden_dim, mostly zeros.
    words = [sentences * size for sentences, size in groups]
    for (sentences, size), rows, columns in zip(groups, first.split(words), second.split(words)):
        columns = columns.view(sentences, 1, size, -1)
        for part in rows.view(sentences, size, 1, -1).split(max(1, block // size), dim=1):
            yield part, columns
