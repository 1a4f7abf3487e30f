"""The encoder network of RNNsearch: one GRU in each direction."""

from __future__ import annotations

from torch import Tensor

from syntax_nmt.models.rnn_encoder import EncoderNetwork
from syntax_nmt.modules.packed_rows import PackedRows
from syntax_nmt.modules.sentence_gru import BOTH, SentenceGRU


class BidirectionalEncoder(EncoderNetwork):
    """`h_i = [GRU→(x_i, h→_{i−1}); GRU←(x_i, h←_{i+1})]` (Zhang et al., 2018, equation 1).

    Args:
        input_dim: width of the embeddings.
        state_dim: C, units in one direction.
    """

    def __init__(self, input_dim: int, state_dim: int) -> None:
        super().__init__()
        self.gru = SentenceGRU(input_dim, state_dim, BOTH)
        self.output_dim = self.gru.output_dim

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """The annotations of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.

        Returns:
            B×S×2C, zero at pads.
        """
        return self.gru(x, PackedRows(padding))
