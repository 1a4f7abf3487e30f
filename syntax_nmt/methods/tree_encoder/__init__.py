"""Tree encoders: states of the phrases of a binary tree (Eriguchi et al., 2016; Chen et al., 2017).

The states of the tokens, those of any RNN encoder of this package, are the leaves. From the bottom
up, each phrase of the binarised constituency tree gets a state from its two children; from the top
down, each node gets another one from its parent. Decoders attend to all nodes, or to the words.

| paper | here |
|---|---|
| Chen et al., the upward gated unit | `cells.GatedMerge`, `cells.UpwardStates` |
| Chen et al., the downward GRUs of left and right children | `cells.DownwardStates` |
| Chen et al., tree coverage; word coverage | `coverage.Coverage` |
| attention to words and phrases | `decoder.NodeDecoder` |
| Eriguchi et al., a start from sentence and root | `extension.TreeStates`, `tree_start` |
| all merges of a height in one product | `levels.Levels` |
| binary trees, of subwords | `syntax_nmt.data.merges` |

Eriguchi et al. have LSTMs of trees and sentences; here, both papers share the gated unit of Chen et
al. and the GRUs of this package.
"""

from syntax_nmt.data.annotation import TREES
from syntax_nmt.methods.method import RNN, RNN_DECODER, RNN_ENCODER, Method, Preset, TrainingRecipe
from syntax_nmt.methods.tree_encoder.extension import NodeAttention, TreeStates
from syntax_nmt.methods.tree_encoder.options import (
    BIDIRECTIONAL,
    NODES,
    TREE,
    UP,
    TreeEncoderOptions,
)

_NODES = {"conditional_gru": True, "tree_attention": NODES}

METHOD = Method(
    name="tree encoders",
    families=(RNN,),
    options=TreeEncoderOptions,
    extensions={RNN_ENCODER: TreeStates, RNN_DECODER: NodeAttention},
    presets={
        "tree2seq_rnn": Preset(RNN, {**_NODES, "tree_encoder": UP, "tree_start": TREE}),
        "tree_coverage_rnn": Preset(
            RNN, {**_NODES, "tree_encoder": BIDIRECTIONAL, "tree_coverage": TREE}
        ),
    },
    recipes=(
        TrainingRecipe(
            "a tree encoder from the bottom up",
            "tree2seq_rnn",
            "tree2seq",
            needs=(TREES,),
            reads=(TREES,),
            family=RNN,
        ),
        TrainingRecipe(
            "a tree encoder both ways, with coverage",
            "tree_coverage_rnn",
            "tree_coverage",
            needs=(TREES,),
            reads=(TREES,),
            family=RNN,
        ),
    ),
)
