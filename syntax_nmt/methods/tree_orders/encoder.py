"""An encoder of GRUs that read the sentence, and its words in the orders of its tree."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.gru import BOTH, FORWARD, SentenceGRU
from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.backbone.rnn_interface import EncoderNetwork
from syntax_nmt.methods.tree_orders.options import CHILD, HEAD, TANH
from syntax_nmt.methods.tree_orders.orders import depth_first_places, reading_order


class TreeOrderEncoder(EncoderNetwork):
    """A bidirectional GRU over the sentence, and a forward GRU over each order of its tree.

    All of them read the embeddings. The states of a word, [h→; h←; …], are mixed, `tanh(W · …)`
    without bias, or stay beside each other. EOS is read last in every order; a sentence without a
    tree is read in its own order.

    Args:
        input_dim: width of the embeddings.
        state_dim: C, units of each GRU in one direction.
        orders: `child` is pre-order, `head` post-order.
        fusion: `tanh` gives C, `concat` the states of all GRUs.
    """

    def __init__(
        self, input_dim: int, state_dim: int, orders: Sequence[str], fusion: str = TANH
    ) -> None:
        super().__init__()
        self.bidirectional = SentenceGRU(input_dim, state_dim, BOTH)
        self.of_orders = nn.ModuleDict(
            {order: SentenceGRU(input_dim, state_dim, FORWARD) for order in orders}
        )
        width = (2 + len(orders)) * state_dim
        self.fusion = nn.Linear(width, state_dim, bias=False) if fusion == TANH else None
        self.output_dim = width if self.fusion is None else state_dim

    def forward(self, x: Tensor, padding: Tensor, heads: Tensor, first: Tensor) -> Tensor:
        """The encoder's states of a batch.

        Args:
            x: B×S×E.
            padding: B×S, True = pad.
            heads: B×S, the column of each token's head; a root's own; −1 = none.
            first: B×S, the column of the first piece of each token's word.

        Returns:
            B×S×M, zero at pads.
        """
        rows, places = PackedRows(padding), depth_first_places(heads)
        of_order = {CHILD: places.pre, HEAD: places.post}
        states = [self.bidirectional(x, rows)]
        for order, gru in self.of_orders.items():
            columns = reading_order(of_order[order], first, padding)
            states.append(gru(x, rows.in_order(columns)))
        joined = torch.cat(states, dim=-1)
        return joined if self.fusion is None else torch.tanh(self.fusion(joined))
