"""The options of constituents in attention (Nguyen et al., 2020).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option

BOTH, ENCODER = STACKS = ("both", "encoder")
ACCUMULATED, PLAIN = VALUES = ("accumulated", "plain")
SUBTREE, ALL = MASKS = ("subtree", "all")
VERTICAL, HORIZONTAL, NONE = "vertical", "horizontal", "none"
EMBEDDINGS = (BOTH, VERTICAL, HORIZONTAL, NONE)

_ON = Needs("constituent_attention", STACKS)


@dataclass
class ConstituentAttentionOptions(FairseqDataclass):
    """Off by default."""

    constituent_attention: Optional[ChoiceEnum(STACKS)] = encoder_option(  # type: ignore[valid-type]
        None,
        "constituents in attention (Nguyen et al., 2020): which layers attend to the constituents "
        "of the source's binary trees beside its tokens: those of encoder and decoder (both), or "
        "of the encoder alone, with --constituent-mask all (needs --load-trees, or "
        "--parser-config) (default: none; constituent_transformer: both)",
    )
    constituent_values: ChoiceEnum(VALUES) = encoder_option(  # type: ignore[valid-type]
        ACCUMULATED,
        "constituents in attention: the value of a constituent is gathered from its tokens and all "
        "constituents within it (accumulated, hierarchical accumulation), or it is a projection of "
        "its state, as that of a token (plain; together with --constituent-mask all, a control "
        "without a tree) (default: accumulated)",
        _ON,
    )
    constituent_mask: ChoiceEnum(MASKS) = encoder_option(  # type: ignore[valid-type]
        SUBTREE,
        "constituents in attention: in the encoder, constituents read their tokens and the "
        "constituents within them, and tokens read tokens (subtree), or all read all (all) "
        "(default: subtree)",
        _ON,
    )
    constituent_embeddings: ChoiceEnum(EMBEDDINGS) = encoder_option(  # type: ignore[valid-type]
        BOTH,
        "constituents in attention, accumulated: embeddings of a constituent's place above each of "
        "its tokens (vertical), and of the token's place within it (horizontal) (default: both)",
        Needs("constituent_values", (ACCUMULATED,)),
    )
