"""Parent-scaled self-attention, PASCAL (Bugliarello and Okazaki, ACL 2020).

In one encoder layer, a density centred at the head of the token's word multiplies the logits of
some attention heads. The paper's equations and the code:

| paper | here |
|---|---|
| p_t, the middle of the parent's subwords | `parent_scaling.parent_positions` |
| D[t, j], the normal density at j around p_t | `parent_scaling.ParentScaling` |
| parent ignoring, with probability q in training | `parent_scaling.ParentScaling` |
| N = softmax((Q Kᵀ/√d) ∘ D) V | `extension.ParentScaledHeads` |
"""

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.parent_scaled.extension import ParentScaledHeads
from syntax_nmt.methods.parent_scaled.options import ParentScaledOptions

METHOD = Method(
    name="parent-scaled heads",
    families=(TRANSFORMER,),
    options=ParentScaledOptions,
    extensions={TRANSFORMER_ENCODER: ParentScaledHeads},
    presets={"pascal_transformer": Preset(TRANSFORMER, {"parent_scaled_layer": 0})},
    recipes=(
        TrainingRecipe(
            "parent-scaled attention",
            "pascal_transformer",
            "pascal",
            needs=(HEADS,),
            reads=(HEADS,),
        ),
    ),
)
