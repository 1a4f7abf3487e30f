"""The options of supervised heads and their loss (Wang et al., 2019).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import FairseqDataclass

from syntax_nmt.arguments import encoder_option, option


@dataclass
class DependencyHeadOptions(FairseqDataclass):
    """Which layer learns the source dependency tree."""

    supervised_layer: Optional[int] = encoder_option(
        None,
        "supervised attention heads (Wang et al., 2019): the encoder layer whose first "
        "two self-attention heads learn the source dependency tree, child head and parent "
        "head; 0 is the lowest, -1 the top layer, the paper's choice; the heads learn "
        "without the layer's gates or window (default: no layer; "
        "dependency_transformer: -1)",
    )


@dataclass
class DependencyLossOptions(FairseqDataclass):
    """The weights of the losses of the two heads."""

    child_weight: float = option(
        0.4, "weight α of the child head's loss; 0 gives the paper's +PSH row"
    )
    parent_weight: float = option(
        0.4, "weight β of the parent head's loss; 0 gives the paper's +CSH row"
    )


@dataclass
class OptionalDependencyLossOptions(DependencyLossOptions):
    """The same, off by default."""

    child_weight: float = option(0.0, "weight α of the child head's loss (default: 0)")
    parent_weight: float = option(0.0, "weight β of the parent head's loss (default: 0)")
