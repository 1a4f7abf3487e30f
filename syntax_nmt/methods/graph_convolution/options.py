"""The options of syntactic graph convolution.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import Needs, encoder_option
from syntax_nmt.methods.column_labels import FULL, UNIVERSAL, ColumnLabelOptions

TOP, BOTTOM = "top", "bottom"
PLACEMENTS = (TOP, BOTTOM)
BOTH, IN, OUT, NONE = "both", "in", "out", "none"
ARCS = (BOTH, IN, OUT, NONE)
LABELS = (FULL, UNIVERSAL, NONE)
RESIDUAL, DENSE = "residual", "dense"
SKIPS = (RESIDUAL, DENSE, NONE)
FIRST, ALL = "first", "all"
PIECES = (FIRST, ALL)

_ON = Needs("gcn_layers", such_as="2")


@dataclass
class GraphConvolutionOptions(ColumnLabelOptions):
    """Off by default."""

    gcn_layers: int = encoder_option(
        0,
        "graph convolution (Bastings et al., 2017): number of layers in which words get messages "
        "along the arcs of the source's dependency tree (needs --load-dependencies and "
        "--load-features deprel, or --parser-config) (default: 0; gcn_rnn, gcn_transformer: 2)",
    )
    gcn_placement: ChoiceEnum(PLACEMENTS) = encoder_option(  # type: ignore[valid-type]
        TOP,
        "graph convolution: on the states of the encoder (top, as on the paper's GRUs) or on its "
        "embeddings with positions (bottom, as on the paper's bag of words) (default: top)",
        _ON,
    )
    gcn_arcs: ChoiceEnum(ARCS) = encoder_option(  # type: ignore[valid-type]
        BOTH,
        "graph convolution: arcs beside the loop of each word: from dependents to heads (in), from "
        "heads to dependents (out), both, or none, a control (default: both)",
        _ON,
    )
    gcn_labels: ChoiceEnum(LABELS) = encoder_option(  # type: ignore[valid-type]
        FULL,
        "graph convolution: the bias b of messages and the bias b^ of gates are of each relation "
        "with its subtype (full), without (universal) or of the direction alone (none, without "
        "--load-features) (default: full)",
        _ON,
    )
    gcn_no_gates: bool = encoder_option(
        False,
        "graph convolution: without g, the gates of arcs (default: off)",
        _ON,
    )
    gcn_skip: Optional[ChoiceEnum(SKIPS)] = encoder_option(  # type: ignore[valid-type]
        None,
        "graph convolution: a layer's output is added to its input (residual), or each layer "
        "reads the concatenation of all before (dense), or neither (none) (default: residual from "
        "two layers on)",
        _ON,
    )
    gcn_edge_dropout: float = encoder_option(
        0.0,
        "graph convolution: the probability that an arc is left out in training (default: 0; "
        "gcn_rnn, gcn_transformer: 0.2, the paper's)",
        _ON,
    )
    gcn_pieces: ChoiceEnum(PIECES) = encoder_option(  # type: ignore[valid-type]
        FIRST,
        "graph convolution: a word's head sends messages to its first subword, on which the others "
        "hang (first), or to all of them (all) (default: first)",
        _ON,
    )
