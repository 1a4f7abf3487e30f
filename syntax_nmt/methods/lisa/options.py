"""The options of linguistically informed self-attention and its loss (Strubell et al., 2018).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option, option
from syntax_nmt.methods.arc_labels import (
    ArcLabelOptions,
    LabelChoice,
    label_option,
    label_weight_option,
)

OWN, GOLD = "own", "gold"
ATTENTION = (OWN, GOLD)

_ON = Needs("lisa_layer", such_as="0")


@dataclass
class LisaOptions(ArcLabelOptions):
    """Off by default."""

    lisa_layer: Optional[int] = encoder_option(
        None,
        "linguistically informed self-attention (Strubell et al., 2018): the encoder layer whose "
        "first head attends with the weights of a parser, which learns the source's dependency "
        "trees by its own weights, before a window, scaling or distances of other methods change "
        "them; 0 is the lowest, -1 the top layer (default: no layer; lisa_transformer: 0, as in "
        "the comparison of Bugliarello and Okazaki, 2020)",
    )
    lisa_dim: Optional[int] = encoder_option(
        None,
        "linguistically informed self-attention: width of the parser's views of a token; published "
        "500 (default: that of an attention head)",
        _ON,
    )
    lisa_attention: ChoiceEnum(ATTENTION) = encoder_option(  # type: ignore[valid-type]
        OWN,
        "linguistically informed self-attention: in training the head attends by the parser's own "
        "weights (own), or each token to its head in the given tree (gold, as published); both "
        "attend by the parser's weights in translation (default: own)",
        _ON,
    )
    lisa_inject: bool = encoder_option(
        False,
        "linguistically informed self-attention: each token attends to its head in a given tree, "
        "in translation, too (needs --load-dependencies or --parser-config); also of a trained "
        "model, by --model-overrides (default: off)",
        _ON,
    )
    dependency_labels: LabelChoice = label_option(_ON)


@dataclass
class LisaLossOptions(FairseqDataclass):
    """The weights of the losses of the parser and of its labels."""

    parse_weight: float = option(
        1.0, "weight λ of the loss of linguistically informed self-attention's parser (default: 1)"
    )
    label_weight: float = label_weight_option()
