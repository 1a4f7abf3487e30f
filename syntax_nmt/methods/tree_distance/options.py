"""The options of distances in the dependency tree.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

NORMAL, LINEAR, EXP, ALIBI = "normal", "linear", "exp", "alibi"
FORMS = (NORMAL, LINEAR, EXP, ALIBI)

_ON = Needs("tree_distance", such_as=NORMAL)


@dataclass
class TreeDistanceOptions(FairseqDataclass):
    """Off by default."""

    tree_distance: Optional[ChoiceEnum(FORMS)] = encoder_option(  # type: ignore[valid-type]
        None,
        "distance in the tree: how D, the number of arcs between two words in the source's "
        "dependency tree, changes the logits of the encoder's self-attention (needs "
        "--load-dependencies or --parser-config): normal multiplies them by the normal density at "
        "D (Peng et al., 2022); linear adds −λ D / max D, the greatest of the row; exp adds "
        "λ e^−D; alibi adds −λ m_h D, with the slopes of Press, Smith and Lewis (2022) (default: "
        "none; tree_distance_transformer: normal)",
    )
    tree_distance_strength: float = encoder_option(
        1.0,
        "distance in the tree: λ; normal multiplies by 1 + λ (density − 1); 0 changes nothing "
        "(default: 1)",
        _ON,
    )
    tree_distance_variance: float = encoder_option(
        1.0,
        "distance in the tree, normal: σ² of the density (default: 1)",
        Needs("tree_distance", (NORMAL,)),
    )
    tree_distance_layers: Optional[int] = encoder_option(
        None,
        "distance in the tree: number of lowest encoder layers that have it (default: 3 for "
        "normal, as published; all for the others)",
        _ON,
    )
    tree_distance_ignoring: float = encoder_option(
        0.0,
        "distance in the tree: the probability that a pair of tokens ignores its distance in "
        "training; the released settings of normal use 0.1 (default: 0)",
        _ON,
    )
