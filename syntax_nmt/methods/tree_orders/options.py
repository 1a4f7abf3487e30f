"""The options of tree orders. fairseq reads the types at run time: none is postponed."""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

CHILD, HEAD = "child", "head"
ORDERS = (CHILD, HEAD)
TANH, CONCAT = "tanh", "concat"
FUSIONS = (TANH, CONCAT)

_ON = Needs("tree_order_encoder", such_as="child,head")


@dataclass
class TreeOrderOptions(FairseqDataclass):
    """Off by default."""

    tree_order_encoder: Optional[str] = encoder_option(
        None,
        "tree orders (after Wu et al., 2017): further GRUs read the source along its dependency "
        "tree, in pre-order, so that a child knows its head (child), in post-order, so that a head "
        "knows its dependents (head), or both with a comma between (needs --load-dependencies, or "
        "--parser-config) (default: none; tree_order_rnn: child,head)",
    )
    tree_order_fusion: ChoiceEnum(FUSIONS) = encoder_option(  # type: ignore[valid-type]
        TANH,
        "tree orders: the states of all GRUs are mixed to the width of one (tanh) or stand beside "
        "each other (concat) (default: tanh)",
        _ON,
    )
