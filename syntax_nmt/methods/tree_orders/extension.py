"""Tree orders in an RNN encoder."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from syntax_nmt.arguments import named_in
from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension, RNNEncoderStack
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.tree_orders.encoder import TreeOrderEncoder
from syntax_nmt.methods.tree_orders.options import ORDERS, TreeOrderOptions


class TreeOrders(RNNEncoderExtension):
    """The network of the encoder: GRUs over the sentence, and over the orders of its tree."""

    option = "--tree-order-encoder"
    reads = (HEADS,)

    def __init__(self, options: TreeOrderOptions, stack: RNNEncoderStack) -> None:
        super().__init__(options, stack)
        self.orders = _orders(self.options.tree_order_encoder)

    def network(self) -> TreeOrderEncoder:
        """The GRUs."""
        stack = self.stack
        return TreeOrderEncoder(
            stack.embed_dim, stack.state_dim, self.orders, self.options.tree_order_fusion
        )

    def network_inputs(self, source: Source) -> Mapping[str, Tensor]:
        """Heads, and the first piece of each word.

        Raises:
            UserError: annotation is missing.
        """
        return {"heads": HEADS.tensor_in(source.annotation), "first": source.spans.first}


def _orders(text: str) -> tuple[str, ...]:
    """The orders of a list with commas, in a fixed order."""
    names = named_in(TreeOrders.option, text, ORDERS, "order")
    return tuple(order for order in ORDERS if order in names)
