"""The options of parent-scaled self-attention.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

_ON = Needs("parent_scaled_layer", such_as="0")


@dataclass
class ParentScaledOptions(FairseqDataclass):
    """Off by default."""

    parent_scaled_layer: Optional[int] = encoder_option(
        None,
        "parent-scaled self-attention (Bugliarello and Okazaki, 2020): the encoder layer whose "
        "heads scale their logits by the distance to the parent in the dependency tree (needs "
        "--load-dependencies or --parser-config); 0 is the lowest, the paper's choice (default: "
        "no layer; pascal_transformer: 0)",
    )
    parent_scaled_heads: Optional[int] = encoder_option(
        None,
        "parent-scaled self-attention: h, number of scaled heads of the layer; the released "
        "settings use 2 to 8 of 8 (default: all)",
        _ON,
    )
    parent_scaled_variance: float = encoder_option(
        1.0,
        "parent-scaled self-attention: σ² of the density around the parent (default: 1)",
        _ON,
    )
    parent_ignoring: float = encoder_option(
        0.0,
        "parent-scaled self-attention: q, the probability that a token ignores its parent "
        "in training; the released settings use 0 to 0.4 (default: 0)",
        _ON,
    )
    parent_ignoring_per_head: bool = encoder_option(
        False,
        "parent-scaled self-attention: draw --parent-ignoring separately for each head, as the "
        "authors' released code does (default: off, once per token)",
        _ON,
    )
