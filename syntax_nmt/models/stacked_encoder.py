"""The baseline encoder of the released code of relation networks: two GRUs, one over the other."""

from __future__ import annotations

from torch import Tensor

from syntax_nmt.models.rnn_encoder import EncoderNetwork
from syntax_nmt.modules.packed_rows import PackedRows
from syntax_nmt.modules.sentence_gru import BACKWARD, FORWARD, SentenceGRU


class StackedEncoder(EncoderNetwork):
    """`h→_i = GRU→(x_i, h→_{i−1});  h_i = GRU←(h→_i, h_{i+1})`: annotations are C wide, not 2C.

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
        """The annotations of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.

        Returns:
            B×S×C, zero at pads.
        """
        rows = PackedRows(padding)
        return self.upper(self.lower(x, rows), rows)
