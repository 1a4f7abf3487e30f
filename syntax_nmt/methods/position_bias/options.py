"""The options of position biases.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, option
from syntax_nmt.methods.position_bias.bias import ALIBI, DECAY, T5

_ON = Needs("position_bias", such_as=DECAY)


@dataclass
class PositionBiasOptions(FairseqDataclass):
    """Off by default."""

    position_bias: Optional[ChoiceEnum([DECAY, ALIBI, T5])] = option(  # type: ignore[valid-type]
        None,
        "a bias of self-attention that depends only on positions, a baseline for all methods: "
        "decay, the gates of Harada and Watanabe (2021) with equal distances (their control), "
        "−(|i−j|−1) ln 2; alibi, −m_h |i−j| (Press, Smith and Lewis, 2022); t5, a trained number "
        "for each head and bucket of distances (Raffel et al., 2020). alibi and t5 were published "
        "without position embeddings (--no-token-positional-embeddings) (default: none)",
    )
    position_bias_layers: Optional[int] = option(
        None,
        "number of lowest layers of encoder and decoder with --position-bias (default: 2 "
        "for decay, all for alibi and t5)",
        _ON,
    )
