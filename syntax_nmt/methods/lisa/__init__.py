"""Linguistically informed self-attention, LISA (Strubell et al., EMNLP 2018).

The weights of one attention head are those of a biaffine parser, which learns the source's
dependency trees. Translation needs no parse.

| paper | here |
|---|---|
| s_ij = [d_i; 1] W e_j | `parser_head.ParserHead` |
| the head attends by softmax(s), and has values of its own | `extension.ParserLayer.scorer` |
| given trees in place of s, in training or in translation, too | `parser_head.TreeInjection` |
| the parser's loss, from its logits | `loss.LisaObjective` |
| labels of arcs, biaffine as in Dozat and Manning (2017) | `methods.arc_labels.ArcLabelScorer` |

The scores read what the attention reads. The paper's read the output of the layer below, with a
LayerNorm of its own: the same but for gain and offset, which W_d and W_e have, too.

The rows of LISA in the table of parent-scaled heads (Bugliarello and Okazaki, 2020) were trained
with another loss: their code applies a second softmax over dependents, so that heads learn to
attend to children.
"""

from functools import partial

from syntax_nmt.backbone.structures import DEPENDENCIES
from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.columns import DEPREL
from syntax_nmt.methods.arc_labels import take_arc_labels
from syntax_nmt.methods.lisa.extension import ParserLayer
from syntax_nmt.methods.lisa.loss import LisaObjective
from syntax_nmt.methods.lisa.options import LisaLossOptions, LisaOptions
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)

METHOD = Method(
    name="parsers in attention",
    families=(TRANSFORMER,),
    options=LisaOptions,
    extensions={TRANSFORMER_ENCODER: ParserLayer},
    loss=Loss(
        "lisa_cross_entropy",
        LisaObjective,
        LisaLossOptions,
        {"--parse-weight": 1.0},
    ),
    presets={"lisa_transformer": Preset(TRANSFORMER, {"lisa_layer": 0})},
    recipes=(
        TrainingRecipe(
            "a parser in attention",
            "lisa_transformer",
            "lisa",
            criterion="lisa_cross_entropy",
            needs=(HEADS,),
        ),
    ),
    extractable={DEPENDENCIES: "--arch lisa_transformer or with --lisa-layer"},
    take_from_data=partial(take_arc_labels, columns={"lisa_layer": DEPREL}),
    same_at_inference=("lisa_attention", "dependency_labels", "dependency_label_dim"),
)
