"""Dependency-supervised self-attention (Wang et al., 2019; of both sides Deguchi et al., 2019).

Two heads of one encoder layer, the child head and the parent head, are trained to attend along the
source dependency tree. Wang et al.'s heads add no parameters, biaffine heads and labels of arcs do;
translation needs no parse.

| equation of Wang et al. | here |
|---|---|
| 1–3, P̂c and P̂p, the attention of the two heads | `syntax_nmt.methods.parent_heads.first_heads` |
| 4, 6: Wc and Lc, the child head's | `loss.child_head_losses` |
| 5, 7: Wp and Lp, the parent head's | `syntax_nmt.methods.parent_heads` |
| 9: α·Lc + β·Lp, added to the translation loss | `loss.DependencyObjective` |
| the supervised layer | `extension.SupervisedHeads` |

Deguchi et al. train a parent head of the decoder, too, for heads that do not come later; parent
heads of both sides are biaffine parsers.

| Deguchi et al. | here |
|---|---|
| (W q_i)·k_j + b·k_j | `biaffine.BiaffineHead` |
| the supervised layer of the decoder | `target_extension.TargetHead` |
| its loss, weighed by λ | `loss.DependencyObjective` |

Wang et al. leave labels to future work; here a biaffine layer scores them, as in Dozat and Manning
(2017).

| Dozat and Manning | here |
|---|---|
| 3: the scores of labels of the arcs | `methods.arc_labels.ArcLabelScorer` |
| their loss | `methods.arc_labels.label_losses` |
"""

from functools import partial

from syntax_nmt.backbone.structures import DEPENDENCIES, TARGET_DEPENDENCIES
from syntax_nmt.data.annotation import HEADS, TARGET_HEADS
from syntax_nmt.data.annotation.columns import DEPREL, TARGET_DEPREL
from syntax_nmt.methods.arc_labels import take_arc_labels
from syntax_nmt.methods.dependency_heads.extension import SupervisedHeads
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.dependency_heads.options import (
    BIAFFINE,
    DependencyHeadOptions,
    DependencyLossOptions,
)
from syntax_nmt.methods.dependency_heads.target_extension import TargetHead
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)

METHOD = Method(
    name="supervised heads",
    families=(TRANSFORMER,),
    options=DependencyHeadOptions,
    extensions={TRANSFORMER_ENCODER: SupervisedHeads, TRANSFORMER_DECODER: TargetHead},
    loss=Loss(
        "dependency_cross_entropy",
        DependencyObjective,
        DependencyLossOptions,
        {"--child-weight": 0.4, "--parent-weight": 0.4},
    ),
    presets={
        "dependency_transformer": Preset(TRANSFORMER, {"supervised_layer": -1}),
        "dbsa_transformer": Preset(
            TRANSFORMER,
            {"supervised_layer": 0, "target_supervised_layer": 0, "dependency_scorer": BIAFFINE},
        ),
    },
    recipes=(
        TrainingRecipe(
            "dependency heads",
            "dependency_transformer",
            "heads",
            criterion="dependency_cross_entropy",
            needs=(HEADS,),
        ),
        TrainingRecipe(
            "dependency heads of both sides",
            "dbsa_transformer",
            "dbsa",
            (
                *("--child-weight", "0", "--parent-weight", "0.5"),
                *("--target-parent-weight", "0.5"),
            ),
            criterion="dependency_cross_entropy",
            needs=(HEADS, TARGET_HEADS),
        ),
    ),
    extractable={
        DEPENDENCIES: "--arch dependency_transformer or with --supervised-layer",
        TARGET_DEPENDENCIES: "--arch dbsa_transformer or with --target-supervised-layer",
    },
    take_from_data=partial(
        take_arc_labels,
        columns={"supervised_layer": DEPREL, "target_supervised_layer": TARGET_DEPREL},
    ),
    same_at_inference=(
        "supervised_layer",
        "target_supervised_layer",
        "target_dependency_shift",
        "dependency_labels",
        "dependency_label_dim",
    ),
)
