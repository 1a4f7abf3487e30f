"""The options of linguistic features of the source.

fairseq reads the types of the fields at run time: no postponed annotations in this file.
"""

from dataclasses import dataclass, fields
from typing import Optional

from fairseq.dataclass import ChoiceEnum

from syntax_nmt.arguments import Needs, encoder_option
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.methods.column_labels import ColumnLabelOptions

SUBWORD = "subword"
FEATURES = (*(column.name for column in COLUMNS), SUBWORD)
SUM, CONCAT, OVERWRITE = "sum", "concat", "overwrite"
MERGES = (SUM, CONCAT, OVERWRITE)

_ON = Needs("source_features", such_as="upos,deprel")


@dataclass
class LinguisticFeatureOptions(ColumnLabelOptions):
    """Off by default."""

    source_features: Optional[str] = encoder_option(
        None,
        "linguistic features (Sennrich and Haddow, 2016): columns of the source's CoNLL-U whose "
        f"values are embedded beside the tokens, with commas between: {', '.join(FEATURES)}; the "
        "place in the word, subword, needs no annotation (default: none; feature_transformer: "
        "upos,deprel,subword; feature_rnn: lemma,upos,deprel,subword)",
    )
    feature_merge: ChoiceEnum(MERGES) = encoder_option(  # type: ignore[valid-type]
        SUM,
        "linguistic features: their vectors are added to the token's (sum), or stand beside a "
        "narrower one, equation 2 (concat, the paper), or replace its last components (overwrite) "
        "(default: sum; feature_rnn: concat)",
        _ON,
    )
    feature_dims: Optional[str] = encoder_option(
        None,
        "linguistic features: widths m_k of their vectors for --feature-merge concat and "
        "overwrite, in the order of --source-features, with commas between (default: none; "
        "feature_rnn: 115,10,10,5, the paper's)",
        Needs("feature_merge", (CONCAT, OVERWRITE)),
    )
    feature_dropout: float = encoder_option(
        0.0,
        "linguistic features: the probability that a token's feature is left out in training "
        "(default: 0)",
        _ON,
    )
    feature_unknown: float = encoder_option(
        0.0,
        "linguistic features: the probability that a token's value in a column counts as <unk> in "
        "training; where no value of the training text is rare, nothing else trains <unk>, which "
        "stands for values of other texts (default: 0)",
        _ON,
    )


OF_FEATURES = tuple(
    field.name for field in fields(LinguisticFeatureOptions) if field.name != "_name"
)
