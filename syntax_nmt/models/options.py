"""The options of the Transformer family beyond those of fairseq's own `transformer`.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import FairseqDataclass


@dataclass
class SyntaxTransformerOptions(FairseqDataclass):
    """Every feature is off by default; with all of them off the model is the stock Transformer."""

    supervised_layer: Optional[int] = field(
        default=None,
        metadata={
            "help": "supervised attention heads (Wang et al., 2019): the encoder layer whose first "
            "two self-attention heads learn the source dependency tree, child head and parent "
            "head; 0 is the lowest, -1 the top layer, the paper's choice (default: no layer; "
            "dependency_transformer: -1)"
        },
    )
