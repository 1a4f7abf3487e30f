"""Stacks of GRUs of opposite direction: with residual and dense connections, or without."""

from collections.abc import Callable, Iterable
from itertools import chain

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.gru import BACKWARD, FORWARD, SentenceGRU
from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_interface import EncoderNetwork

# Of a width: forward(states B×S×width, rows) -> B×S×width.
BuildLayer = Callable[[int], nn.Module]


class InterleavedEncoder(EncoderNetwork):
    """Forward GRU → layer → backward GRU → layer (Zhang et al., 2018, section 5.2).

    Every block l has a residual connection, equation 11, and then a dense one, equation 12:
    ``h^l = in^l + out^l;  in^{l+1} = W_dc [h^1; …; h^l] + b``; the last are the encoder's states.
    The first input is the embedding, so it is as wide as a GRU.

    Args:
        state_dim: C, width of the embeddings and units of each GRU.
        build_layer: makes a layer of a width; None = only GRUs.
        dense_embedding: the dense connections begin with the embedding.
    """

    def __init__(
        self, state_dim: int, build_layer: BuildLayer | None, dense_embedding: bool = False
    ) -> None:
        super().__init__()
        self.dense_embedding = dense_embedding
        self.output_dim = state_dim
        directions = (FORWARD, BACKWARD)
        self.grus = nn.ModuleList([SentenceGRU(state_dim, state_dim, way) for way in directions])
        self.relations = nn.ModuleList(
            [build_layer(state_dim) for _ in directions] if build_layer is not None else []
        )
        self.dense = nn.ModuleList(
            nn.Linear((blocks + dense_embedding) * state_dim, state_dim)
            for blocks in range(1, len(self.grus) + len(self.relations) + 1)
        )

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """The encoder's states of a batch.

        Args:
            x: B×S×C.
            padding: B×S, True = pad.

        Returns:
            B×S×C.
        """
        rows = PackedRows(padding)
        features = [x] if self.dense_embedding else []
        blocks: Iterable[nn.Module] = self.grus
        if self.relations:
            blocks = chain.from_iterable(zip(self.grus, self.relations))
        for block, dense in zip(blocks, self.dense):
            features.append(x + block(x, rows))
            x = dense(torch.cat(features, dim=-1))
        return x


class StackedEncoder(EncoderNetwork):
    """Two GRUs, the baseline in the released code of Zhang et al. (2018).

    `h→_i = GRU→(x_i, h→_{i−1});  h_i = GRU←(h→_i, h_{i+1})`: states are C wide, not 2C.

    Args:
        input_dim: width of the embeddings.
        state_dim: C, units of each GRU.
    """

    def __init__(self, input_dim: int, state_dim: int) -> None:
        super().__init__()
        self.lower = SentenceGRU(input_dim, state_dim, FORWARD)
        self.upper = SentenceGRU(state_dim, state_dim, BACKWARD)
        self.output_dim = state_dim

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """The encoder's states of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.

        Returns:
            B×S×C, zero at pads.
        """
        rows = PackedRows(padding)
        return self.upper(self.lower(x, rows), rows)
