"""A relation network layer on top of an encoder (Zhang et al., 2018, section 3, figure 2)."""

from torch import Tensor

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_encoder import BidirectionalEncoder
from syntax_nmt.backbone.rnn_interface import EncoderNetwork
from syntax_nmt.methods.relation_network.interleaved_encoder import BuildLayer


class RelationOnTop(EncoderNetwork):
    """One relation network layer on a bidirectional GRU (Section 3, Figure 2).

    The figure omits its residual connection, as its caption says: h + RNL(h).

    Args:
        input_dim: width of the embeddings.
        state_dim: C, units in one direction.
        build_layer: makes a relation network layer.
    """

    def __init__(self, input_dim: int, state_dim: int, build_layer: BuildLayer) -> None:
        super().__init__()
        self.bidirectional = BidirectionalEncoder(input_dim, state_dim)
        self.output_dim = self.bidirectional.output_dim
        self.relation = build_layer(self.output_dim)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """The encoder's states of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.

        Returns:
            B×S×2C.
        """
        rows = PackedRows(padding)
        states = self.bidirectional.gru(x, rows)
        return states + self.relation(states, rows)
