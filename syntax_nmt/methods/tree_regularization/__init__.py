"""Tree regularization, TreeReg (Nandi, Manning and Murty, NAACL 2025).

A loss by which the states of a layer tell where each constituent is split, so that what is in a
constituent depends little on what comes before it. The method adds no parameters, and translation
needs no tree.

| paper | here |
|---|---|
| span contextual independence o(s, e) | `loss.contextual_independence` |
| scores z_k of the splits of a span | `loss.split_logits` |
| −log softmax(z)[split] | `loss.split_losses`, `loss.TreeRegularization` |
| the layer, and the share of its components | `extension.SourceStates`, `extension.TargetStates` |

The paper trains language models: of a decoder, states have read what comes before, as there. That
states of an encoder, which have read all of the sentence, learn the same is of this package. The
loss is a sum over constituents, in every update; the released code takes means over the
constituents of a sentence and over sentences, in every tenth update.
"""

from math import ceil
from typing import Any

from syntax_nmt.data.annotation import TREES
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.tree_regularization.extension import SourceStates, TargetStates
from syntax_nmt.methods.tree_regularization.loss import TreeRegularization
from syntax_nmt.methods.tree_regularization.options import (
    TreeRegularizationLossOptions,
    TreeRegularizationOptions,
)


def _three_quarters(args: Any) -> int:
    """The layer of an encoder as high as the paper's: the 12th of 16."""
    return ceil(int(args.encoder_layers) * 3 / 4) - 1


METHOD = Method(
    name="tree regularization",
    families=(TRANSFORMER,),
    options=TreeRegularizationOptions,
    extensions={TRANSFORMER_ENCODER: SourceStates, TRANSFORMER_DECODER: TargetStates},
    loss=Loss(
        "tree_reg_cross_entropy",
        TreeRegularization,
        TreeRegularizationLossOptions,
        {"--tree-reg-weight": 0.1},
    ),
    presets={
        "tree_reg_transformer": Preset(TRANSFORMER, derived={"tree_reg_layer": _three_quarters}),
    },
    recipes=(
        TrainingRecipe(
            "tree regularization",
            "tree_reg_transformer",
            "tree_reg",
            criterion="tree_reg_cross_entropy",
            needs=(TREES,),
        ),
    ),
    same_at_inference=("tree_reg_layer", "target_tree_reg_layer", "tree_reg_share"),
)
