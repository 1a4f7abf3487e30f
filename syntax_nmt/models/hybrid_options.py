"""The options of mixed models.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import option
from syntax_nmt.models.family_options import FAMILIES, RNN, TRANSFORMER
from syntax_nmt.models.options import SyntaxTransformerOptions
from syntax_nmt.models.rnn_options import RecurrentOptions


@dataclass
class SyntaxHybridOptions(SyntaxTransformerOptions, RecurrentOptions):
    """The options of both families beyond those of fairseq's own `transformer`."""

    encoder_family: ChoiceEnum(FAMILIES) = option(  # type: ignore[valid-type]
        TRANSFORMER, "what the encoder is: a Transformer or GRUs (default: transformer)"
    )
    decoder_family: ChoiceEnum(FAMILIES) = option(  # type: ignore[valid-type]
        RNN, "what the decoder is: a Transformer or GRUs (default: rnn)"
    )
