"""The options of tree regularization and its loss (Nandi et al., 2025).

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, encoder_option, option


@dataclass
class TreeRegularizationOptions(FairseqDataclass):
    """Which states the loss reads; none by default."""

    tree_reg_layer: Optional[int] = encoder_option(
        None,
        "tree regularization (Nandi et al., 2025) of the source: the encoder layer whose states "
        "learn where constituents are split; 0 is the lowest, -1 the top layer (default: none; "
        "tree_reg_transformer: at three quarters of the depth, as in the paper)",
    )
    target_tree_reg_layer: Optional[int] = decoder_option(
        None,
        "tree regularization of the target: the same of a decoder layer, whose states have read "
        "what comes before, as those of the paper (default: none)",
    )
    tree_reg_share: float = option(
        0.25,
        "tree regularization: the share of the components of a state, the first ones, that the "
        "loss reads (default: 0.25)",
        Needs("tree_reg_layer", such_as="-1"),
        Needs("target_tree_reg_layer", such_as="-1"),
    )


@dataclass
class TreeRegularizationLossOptions(FairseqDataclass):
    """The weight of the loss."""

    tree_reg_weight: float = option(
        0.1,
        "tree regularization: weight of the loss, summed over constituents; the paper has 1 in "
        "every tenth update, of a mean over the constituents of a sentence (default: 0.1)",
    )
