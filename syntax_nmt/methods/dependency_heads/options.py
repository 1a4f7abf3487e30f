"""The options of supervised heads and their loss (Wang et al., 2019; Deguchi et al., 2019).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, encoder_option, option
from syntax_nmt.methods.arc_labels import (
    ArcLabelOptions,
    LabelChoice,
    label_option,
    label_weight_option,
)

DOT, BIAFFINE = "dot", "biaffine"
SCORERS = (DOT, BIAFFINE)
READ, PREDICT = "read", "predict"
SHIFTS = (READ, PREDICT)

_SOURCE = Needs("supervised_layer")
_TARGET = Needs("target_supervised_layer")


@dataclass
class DependencyHeadOptions(ArcLabelOptions):
    """Which layers learn the dependency trees of source and target."""

    supervised_layer: Optional[int] = encoder_option(
        None,
        "supervised attention heads (Wang et al., 2019): the encoder layer whose first "
        "two self-attention heads learn the source dependency tree, child head and parent "
        "head; 0 is the lowest, -1 the top layer, the paper's choice; the heads learn "
        "without the layer's gates or window (default: no layer; "
        "dependency_transformer: -1; dbsa_transformer: 0)",
    )
    target_supervised_layer: Optional[int] = decoder_option(
        None,
        "supervised attention heads of the target (Deguchi et al., 2019): the decoder layer whose "
        "first self-attention head learns the heads of the target's words that do not stand to "
        "their right; 0 is the lowest, -1 the top layer (default: no layer; dbsa_transformer: 0)",
    )
    target_dependency_shift: ChoiceEnum(SHIFTS) = decoder_option(  # type: ignore[valid-type]
        READ,
        "supervised attention heads of the target: a word's head is learned where the decoder "
        "reads the word (read), or one step before, where it predicts it (predict, as in the "
        "authors' released code) (default: read)",
        Needs("target_supervised_layer", such_as="0"),
    )
    dependency_scorer: ChoiceEnum(SCORERS) = option(  # type: ignore[valid-type]
        DOT,
        "supervised attention heads: the logits of the heads that learn parents are products of "
        "queries and keys (dot), or (W q + b) k with a matrix and a vector of their own (biaffine, "
        "Deguchi et al., 2019) (default: dot; dbsa_transformer: biaffine)",
        _SOURCE,
        _TARGET,
    )
    dependency_labels: LabelChoice = label_option(_SOURCE, _TARGET)


@dataclass
class DependencyLossOptions(FairseqDataclass):
    """The weights of the losses of the two heads."""

    child_weight: float = option(
        0.4, "weight α of the child head's loss; 0 gives the paper's +PSH row (default: 0.4)"
    )
    parent_weight: float = option(
        0.4, "weight β of the parent head's loss; 0 gives the paper's +CSH row (default: 0.4)"
    )
    target_parent_weight: float = option(
        0.0,
        "weight λ of the loss of the target's parent head, of --target-supervised-layer: of the "
        "sum over supervised tokens; the published 0.5 weighs, in the released code, the mean over "
        "dependencies times the number of target tokens (default: 0)",
    )
    label_weight: float = label_weight_option()
