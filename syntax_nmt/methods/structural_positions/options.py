"""The options of structural positions (Wang et al., 2019).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

ABSOLUTE, RELATIVE = POSITIONS = ("absolute", "relative")
TANH, ADD = FUSIONS = ("tanh", "add")
PAPER, LCA, DEPTH = RULES = ("paper", "lca", "depth")

_ABSOLUTE = Needs("structural_positions", (ABSOLUTE,))
_RELATIVE = Needs("structural_positions", (RELATIVE,))


@dataclass
class StructuralPositionOptions(FairseqDataclass):
    """Off by default."""

    structural_positions: Optional[str] = encoder_option(
        None,
        "structural positions (Wang et al., 2019): the depth of words in the dependency tree "
        "beside their position (absolute), the relation of two words in it in the encoder's "
        "self-attention (relative), or both with a comma between (needs --load-dependencies or "
        "--parser-config) (default: none; structural_transformer: absolute,relative)",
    )
    structural_fusion: ChoiceEnum(FUSIONS) = encoder_option(  # type: ignore[valid-type]
        TANH,
        "structural positions, absolute: tanh(U p(i) + V p(a_i) + b) in place of the position p(i) "
        "(tanh), or p(i) + p(a_i) (add); p = sinusoids (default: tanh)",
        _ABSOLUTE,
    )
    structural_rule: ChoiceEnum(RULES) = encoder_option(  # type: ignore[valid-type]
        PAPER,
        "structural positions, relative: a_i − a_j where one word is above the other, else "
        "±(a_i + a_j), + if i stands first (paper); the arcs between both, with that sign (lca); "
        "or a_i − a_j for all (depth) (default: paper)",
        _RELATIVE,
    )
    structural_clip: int = encoder_option(
        16,
        "structural positions, relative: R, beyond which relations are alike (default: 16)",
        _RELATIVE,
    )
