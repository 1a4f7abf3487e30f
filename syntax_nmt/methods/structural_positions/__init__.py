"""Structural positions of the source (Wang, Tu, Wang and Shi, EMNLP 2019).

The depth a of a word in its dependency tree is a position beside that in the sentence, and so is
the relation of two words in the tree.

| paper | here |
|---|---|
| a_i, the arcs up to the root | `structure.depths` |
| rel(i, j): a_i − a_j where one is above the other, else ±(a_i + a_j) | `structure.relations` |
| both absolute positions, fused by a nonlinear function | `positions.StructuralEmbedding` |
| relative positions in the encoder's self-attention | `positions.StructuralBias` |

The paper's equations were not at hand; the rule is that of a reader's notes. Relative positions are
numbers, one a head and relation in each layer, not vectors as of Shaw et al. (2018).

Its control needs no code: chains (`syntax-nmt control --kind chain`) have a_i = i and rel = i − j,
which are positions in the sentence.
"""

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.structural_positions.extension import StructuralPositions
from syntax_nmt.methods.structural_positions.options import StructuralPositionOptions

METHOD = Method(
    name="structural positions",
    families=(TRANSFORMER,),
    options=StructuralPositionOptions,
    extensions={TRANSFORMER_ENCODER: StructuralPositions},
    presets={
        "structural_transformer": Preset(TRANSFORMER, {"structural_positions": "absolute,relative"})
    },
    recipes=(
        TrainingRecipe(
            "structural positions",
            "structural_transformer",
            "structural",
            needs=(HEADS,),
            reads=(HEADS,),
        ),
    ),
)
