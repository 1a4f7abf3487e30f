"""Distances in the dependency tree in the logits of the encoder (Peng et al., 2022).

| paper and kin | here |
|---|---|
| D_ij, the number of arcs between the words of i and j | `distances.tree_distances` |
| softmax((Q Kᵀ/√d) ∘ N(D; 0, σ²)) V | `distances.DistanceChange`, `normal` |
| biases: linear, exponential, and the slopes of ALiBi over D | `distances.DistanceChange` |
| random sparsing, with neutral pairs in place of far ones | `distances.DistanceChange` |
| the lowest layers | `extension.TreeDistances` |

Its control needs no code: chains (`syntax-nmt control --kind chain`) have D_ij = |i − j|, in words.
"""

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.tree_distance.extension import TreeDistances
from syntax_nmt.methods.tree_distance.options import NORMAL, TreeDistanceOptions

METHOD = Method(
    name="distances in the tree",
    families=(TRANSFORMER,),
    options=TreeDistanceOptions,
    extensions={TRANSFORMER_ENCODER: TreeDistances},
    presets={"tree_distance_transformer": Preset(TRANSFORMER, {"tree_distance": NORMAL})},
    recipes=(
        TrainingRecipe(
            "distances in the tree",
            "tree_distance_transformer",
            "tree_distance",
            needs=(HEADS,),
            reads=(HEADS,),
        ),
    ),
)
