"""Tree orders: recurrent networks that read the source along its dependency tree.

After SE-NMT (Wu et al., IJCAI 2017), from a description of its encoder: whether the paper fuses the
states as here, or concatenates them, and how it starts the decoder, is inferred.

Beside the bidirectional GRU over the sentence, one GRU reads the words in pre-order, heads before
their dependents, so that the state of a child knows its head; another one reads them in post-order,
so that the state of a head knows its dependents.

| SE-NMT | here |
|---|---|
| orders of a tree; dependents in the order of the sentence | `orders.depth_first_places` |
| pieces of words, of which the paper has none | `orders.reading_order` |
| CES, the child-enriched encoder: pre-order | `encoder.TreeOrderEncoder`, `child` |
| HES, the head-enriched encoder: post-order | `encoder.TreeOrderEncoder`, `head` |
| `h_i = tanh(W_f h→_i + W_b h←_i + W_c h^CES_i + W_h h^HES_i)` | `encoder.TreeOrderEncoder` |
"""

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.method import RNN, RNN_ENCODER, Method, Preset, TrainingRecipe
from syntax_nmt.methods.tree_orders.extension import TreeOrders
from syntax_nmt.methods.tree_orders.options import TreeOrderOptions

METHOD = Method(
    name="tree orders",
    families=(RNN,),
    options=TreeOrderOptions,
    extensions={RNN_ENCODER: TreeOrders},
    presets={
        "tree_order_rnn": Preset(RNN, {"conditional_gru": True, "tree_order_encoder": "child,head"})
    },
    recipes=(
        TrainingRecipe(
            "tree orders",
            "tree_order_rnn",
            "tree_orders",
            needs=(HEADS,),
            reads=(HEADS,),
            family=RNN,
        ),
    ),
)
