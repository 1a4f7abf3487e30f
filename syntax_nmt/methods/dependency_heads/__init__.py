"""Dependency-supervised self-attention (Wang et al., EMNLP-IJCNLP 2019).

Two heads of one encoder layer, the child head and the parent head, are trained to attend along the
source dependency tree. The method adds no parameters, and translation needs no parse.

| equation | here |
|---|---|
| 1–3, P̂c and P̂p, the attention of the two heads | `loss.supervised_head_log_probabilities` |
| 4, 6: Wc and Lc, the child head's | `loss.child_head_losses` |
| 5, 7: Wp and Lp, the parent head's | `syntax_nmt.methods.parent_heads` |
| 9: α·Lc + β·Lp, added to the translation loss | `loss.DependencyObjective` |
| the supervised layer | `feature.SupervisedHeads` |
"""

from syntax_nmt.backbone.structures import DEPENDENCIES
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.methods.dependency_heads.feature import SupervisedHeads
from syntax_nmt.methods.dependency_heads.loss import DependencyObjective
from syntax_nmt.methods.dependency_heads.options import (
    DependencyHeadOptions,
    DependencyLossOptions,
    OptionalDependencyLossOptions,
)
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Loss,
    Method,
    Preset,
    TrainingLine,
)

METHOD = Method(
    name="supervised heads",
    families=(TRANSFORMER,),
    options=DependencyHeadOptions,
    features={TRANSFORMER_ENCODER: SupervisedHeads},
    loss=Loss(
        "dependency_cross_entropy",
        DependencyObjective,
        DependencyLossOptions,
        OptionalDependencyLossOptions,
        {"--child-weight": 0.4, "--parent-weight": 0.4},
    ),
    presets={"dependency_transformer": Preset(TRANSFORMER, {"supervised_layer": -1})},
    lines=(
        TrainingLine(
            "dependency heads",
            "dependency_transformer",
            "heads",
            criterion="dependency_cross_entropy",
            needs=(HEADS,),
        ),
    ),
    switch=("--supervised-layer=-1",),
    gives={DEPENDENCIES: "--arch dependency_transformer or with --supervised-layer"},
    same_at_inference=("supervised_layer",),
)
