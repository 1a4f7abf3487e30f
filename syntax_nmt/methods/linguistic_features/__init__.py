"""Linguistic features of the source (Sennrich and Haddow, WMT 2016).

Each token has features beside its word: part of speech, dependency label, lemma, morphology, and
its place in the word. Their vectors are merged with the token's before the encoder.

| paper | here |
|---|---|
| equation 2: `e_j = [E_1 x_j1; …; E_K x_jK]` | `tables.merge_concat` |
| the sum of the toolkits | `tables.merge_sum` |
| tags in place of components (Bugliarello and Okazaki's code) | `tables.merge_overwrite` |
| section 3: lemma, POS, dependency label, morphology | `syntax_nmt.data.annotation.columns` |
| section 3: subword tags O, B, I, E | `tables.places_in_words` |
| tables E_k | `tables.FeatureTables` |
"""

from syntax_nmt.data.annotation.columns import DEPREL, LEMMA, UPOS
from syntax_nmt.methods.linguistic_features.extension import SourceFeatures, take_feature_labels
from syntax_nmt.methods.linguistic_features.options import (
    CONCAT,
    OF_FEATURES,
    LinguisticFeatureOptions,
)
from syntax_nmt.methods.method import (
    RNN,
    RNN_ENCODER,
    RNN_SIZES,
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)

_SUMMED = {"source_features": "upos,deprel,subword"}
_BESIDE = {
    "source_features": "lemma,upos,deprel,subword",
    "feature_merge": CONCAT,
    "conditional_gru": True,
}
# The released sample: 500 = word 360, lemma 115, POS 10, dependency label 10, subword tag 5.
_PAPER = {"encoder_embed_dim": 500, "feature_dims": "115,10,10,5"}
_TINY = {**RNN_SIZES["_tiny"], "feature_dims": "24,8,8,4"}

METHOD = Method(
    name="linguistic features",
    families=(TRANSFORMER, RNN),
    options=LinguisticFeatureOptions,
    extensions={TRANSFORMER_ENCODER: SourceFeatures, RNN_ENCODER: SourceFeatures},
    presets={
        "feature_transformer": Preset(TRANSFORMER, _SUMMED),
        "feature_rnn": Preset(RNN, _BESIDE, {"": _PAPER, "_tiny": _TINY}),
    },
    recipes=(
        TrainingRecipe(
            "features of words, added to their embeddings",
            "feature_transformer",
            "features",
            needs=(UPOS, DEPREL),
            reads=(UPOS, DEPREL),
        ),
        TrainingRecipe(
            "features of words, beside their embeddings",
            "feature_rnn",
            "features_rnn",
            needs=(LEMMA, UPOS, DEPREL),
            reads=(LEMMA, UPOS, DEPREL),
            family=RNN,
            shares_embeddings=False,
        ),
    ),
    take_from_data=take_feature_labels,
    as_factors=OF_FEATURES,
)
