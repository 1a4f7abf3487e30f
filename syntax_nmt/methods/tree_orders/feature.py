"""Tree orders in an RNN encoder."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from syntax_nmt.backbone.feature import Source
from syntax_nmt.backbone.rnn_encoder import BIDIRECTIONAL
from syntax_nmt.backbone.rnn_feature import RNNEncoderFeature, RNNEncoderHalf
from syntax_nmt.backbone.word_spans import WordSpans
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.errors import UserError
from syntax_nmt.methods.tree_orders.encoder import TreeOrderEncoder
from syntax_nmt.methods.tree_orders.options import FUSIONS, ORDERS, TreeOrderOptions
from syntax_nmt.option_checks import check_choice, refuse_changed


class TreeOrders(RNNEncoderFeature):
    """The network of the encoder: GRUs over the sentence, and over the orders of its tree.

    Args:
        orders: of :data:`ORDERS`, in this order.
        fusion: one of :data:`FUSIONS`.
    """

    option = "--tree-order-encoder"
    reads = (HEADS,)

    def __init__(self, orders: tuple[str, ...], fusion: str, half: RNNEncoderHalf) -> None:
        self.orders, self.fusion, self.half = orders, fusion, half
        self.spans = WordSpans(half.dictionary)

    @classmethod
    def of(cls, options: TreeOrderOptions, half: RNNEncoderHalf) -> TreeOrders | None:
        """The feature that the options describe; None = it is off.

        Raises:
            UserError: an unknown order, or options that contradict each other.
        """
        text = options.tree_order_encoder
        if text is None:
            refuse_changed(options, ["tree_order_fusion"], "--tree-order-encoder child,head")
            return None
        check_choice("tree_order_fusion", options.tree_order_fusion, FUSIONS)
        if half.gru != BIDIRECTIONAL:
            raise UserError(
                f"--encoder-gru {half.gru}: --tree-order-encoder stands beside a bidirectional "
                "GRU: leave one of them out"
            )
        return cls(_orders(text), str(options.tree_order_fusion), half)

    def network(self) -> TreeOrderEncoder:
        """The GRUs."""
        return TreeOrderEncoder(self.half.embed_dim, self.half.state_dim, self.orders, self.fusion)

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
