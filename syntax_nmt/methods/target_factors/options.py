"""The options of target factors and their loss.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from syntax_nmt.arguments import Needs, decoder_option, option
from syntax_nmt.data.annotation import TARGET_COLUMNS
from syntax_nmt.methods.column_labels import ColumnLabelOptions

READ, PREDICT = "read", "predict"
SHIFTS = (READ, PREDICT)
OWN, NO_INPUT = "own", "none"
INPUTS = (OWN, NO_INPUT)
ALL, LAST = "all", "last"
PIECES = (ALL, LAST)

_ON = Needs("target_factors", such_as="upos,deprel")


@dataclass
class TargetFactorOptions(ColumnLabelOptions):
    """Off by default."""

    target_factors: Optional[str] = decoder_option(
        None,
        "target factors: columns of the target's CoNLL-U, or its chunk tags, whose values the "
        "decoder predicts beside the words, with commas between: "
        f"{', '.join(each.column for each in TARGET_COLUMNS)} "
        "(default: none; factor_transformer, factor_rnn: upos,deprel)",
    )
    target_factor_shift: ChoiceEnum(SHIFTS) = decoder_option(  # type: ignore[valid-type]
        READ,
        "target factors: a step of the decoder predicts the values of the word that it reads "
        "(read, Sockeye's), or of the word that it predicts (predict) (default: read)",
        _ON,
    )
    target_factor_inputs: ChoiceEnum(INPUTS) = decoder_option(  # type: ignore[valid-type]
        OWN,
        "target factors: the next step adds the embeddings E_k of these values to that of its "
        "word; in training those of the annotation, in a search the decoder's own (own), or it "
        "reads words alone, so that factors are a second task and a search is unchanged (none) "
        "(default: own)",
        _ON,
    )
    target_factor_dropout: float = decoder_option(
        0.1,
        "target factors: the probability that a value that is read counts as none in training, "
        "where it is right more often than in a search (default: 0.1)",
        Needs("target_factor_inputs", (OWN,)),
    )
    target_factor_score: float = decoder_option(
        0.0,
        "target factors: the weight γ of the log-probabilities of the values that a search "
        "chooses, which the scores of hypotheses add; also of a trained model, by "
        "--model-overrides (default: 0)",
        Needs("target_factor_inputs", (OWN,)),
    )


@dataclass
class FactorLossOptions(FairseqDataclass):
    """The weight of the loss, and what it counts."""

    target_factor_weight: float = option(
        1.0, "weight λ of the sum of the factors' losses (default: 1, Sockeye's)"
    )
    target_factor_pieces: ChoiceEnum(PIECES) = option(  # type: ignore[valid-type]
        ALL,
        "target factors: the loss is that of all pieces of a word, which all have its values, or "
        "of the last alone, whose values are the word's in the output (default: all)",
    )
