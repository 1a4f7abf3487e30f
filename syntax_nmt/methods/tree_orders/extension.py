"""Tree orders in an RNN encoder."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.extension import Source
from syntax_nmt.backbone.rnn_extension import RNNEncoderExtension, RNNEncoderStack
from syntax_nmt.backbone.rnn_interface import BIDIRECTIONAL
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_orders.encoder import TreeOrderEncoder
from syntax_nmt.methods.tree_orders.options import FUSIONS, ORDERS, TreeOrderOptions
from syntax_nmt.option_checks import check_choice, refuse_changed


class TreeOrders(RNNEncoderExtension):
    """The network of the encoder: GRUs over the sentence, and over the orders of its tree.

    Args:
        orders: of :data:`ORDERS`, in this order.
        fusion: one of :data:`FUSIONS`.
    """

    option = "--tree-order-encoder"
    reads = (HEADS,)

    def __init__(self, orders: tuple[str, ...], fusion: str, stack: RNNEncoderStack) -> None:
        self.orders, self.fusion, self.stack = orders, fusion, stack
        self.spans = WordSpans(stack.dictionary)

    @classmethod
    def of(cls, options: TreeOrderOptions, stack: RNNEncoderStack) -> TreeOrders | None:
        """The extension that the options describe; None = it is off.

        Raises:
            UserError: an unknown order, or options that contradict each other.
        """
        text = options.tree_order_encoder
        if text is None:
            refuse_changed(options, ["tree_order_fusion"], "--tree-order-encoder child,head")
            return None
        check_choice("tree_order_fusion", options.tree_order_fusion, FUSIONS)
        if stack.gru != BIDIRECTIONAL:
            raise UserError(
                f"--encoder-gru {stack.gru}: --tree-order-encoder stands beside a bidirectional "
                "GRU: leave one of them out"
            )
        return cls(_orders(text), str(options.tree_order_fusion), stack)

    def network(self) -> TreeOrderEncoder:
        """The GRUs."""
        return TreeOrderEncoder(
            self.stack.embed_dim, self.stack.state_dim, self.orders, self.fusion
        )

    def network_inputs(self, source: Source) -> Mapping[str, Tensor]:
        """Heads, and the first piece of each word.

        Raises:
            UserError: annotation is missing.
        """
        return {
            "heads": HEADS.tensor_in(source.annotation),
            "first": self.spans(source.tokens).first,
        }

    def modules(self, output_dim: int) -> Mapping[str, nn.Module]:
        """What finds words in pieces."""
        return {"tree_order_spans": self.spans}


def _orders(text: str) -> tuple[str, ...]:
    """The orders of a list with commas, in a fixed order."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ORDERS:
            raise UserError(
                f"--tree-order-encoder {text}: {name!r} is no order: give {', '.join(ORDERS)}, or "
                "both with a comma between"
            )
        if names.count(name) > 1:
            raise UserError(f"--tree-order-encoder {text}: {name} twice: give each order once")
    return tuple(order for order in ORDERS if order in names)
