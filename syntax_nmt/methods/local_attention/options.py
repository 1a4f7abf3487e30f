"""The options of local attention.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass

from syntax_nmt.arguments import Needs, encoder_option


@dataclass
class LocalAttentionOptions(FairseqDataclass):
    """Off by default."""

    local_attention_window: int = encoder_option(
        0,
        "local attention, which Harada and Watanabe (2021) compare latent phrases with: number of "
        "neighbours on either side that tokens attend to in the lowest encoder layers (the paper: "
        "2; default: 0, no window)",
    )
    local_attention_layers: int = encoder_option(
        2,
        "number of encoder layers that --local-attention-window is for, counted from the "
        "lowest (default: 2)",
        Needs("local_attention_window"),
    )
