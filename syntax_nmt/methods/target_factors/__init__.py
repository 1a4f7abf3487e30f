"""Factors of the target: columns of its annotation, predicted beside its words.

Any column is predicted beside the word, with the shift and the search of Sockeye's target factors;
García-Martínez et al. (2016) predict lemmas and factors of them. Nadejde et al. (2017) interleave
tags with the words instead.

Row r of the decoder reads the word y_r and predicts y_{r+1}; f^k_r is the value of y_r in column k.
Each row guesses the value g^k_r, and the next row reads it: f^k_r of the word that the row has read
(`read`), or f^k_{r+1} of the word that it predicts (`predict`).

| equation | here |
|---|---|
| `E y_r + Σ_k E_k g^k_{r−1}`, g_{−1} = none | `extension.FactorTables.vectors` |
| `z^k_r = W_k s_r + b_k`, from what the output layer reads | `extension.FactorTables.logits` |
| the values that a search feeds back, `argmax z^k_r` | `extension.FactorTables.best` |
| `γ Σ_k log p(g^k_r)`, which scores in a search add | `extension.FactorTables.best` |
| `Σ_k λ Σ_r −log softmax(z^k_r)[g^k_r]`, without label smoothing | `loss.TargetFactorObjective` |
| the loss of translation with the model's own values | `loss.validated` |
"""

from syntax_nmt.backbone.structures import FACTORS
from syntax_nmt.data.annotation.columns import TARGET_DEPREL, TARGET_UPOS
from syntax_nmt.methods.method import (
    RNN,
    RNN_DECODER,
    RNN_SIZES,
    TRANSFORMER,
    TRANSFORMER_DECODER,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.target_factors.extension import (
    TargetFactors,
    same_without_inputs,
    take_factor_labels,
)
from syntax_nmt.methods.target_factors.loss import FactorValidation, TargetFactorObjective
from syntax_nmt.methods.target_factors.options import FactorLossOptions, TargetFactorOptions

_FACTORS = {"target_factors": "upos,deprel"}
_NEEDED = (TARGET_UPOS, TARGET_DEPREL)

METHOD = Method(
    name="target factors",
    families=(TRANSFORMER, RNN),
    options=TargetFactorOptions,
    extensions={TRANSFORMER_DECODER: TargetFactors, RNN_DECODER: TargetFactors},
    loss=Loss(
        "factor_cross_entropy",
        TargetFactorObjective,
        FactorLossOptions,
        {"--target-factor-weight": 1.0},
    ),
    presets={
        "factor_transformer": Preset(TRANSFORMER, _FACTORS),
        "factor_rnn": Preset(RNN, {**_FACTORS, "conditional_gru": True}, RNN_SIZES),
    },
    recipes=(
        TrainingRecipe(
            "factors of the target's words",
            "factor_transformer",
            "factors",
            criterion="factor_cross_entropy",
            needs=_NEEDED,
        ),
        TrainingRecipe(
            "factors of the target's words, by an RNN",
            "factor_rnn",
            "factors_rnn",
            criterion="factor_cross_entropy",
            needs=_NEEDED,
            family=RNN,
        ),
    ),
    extractable={FACTORS: "--arch factor_transformer or with --target-factors"},
    take_from_data=take_factor_labels,
    same_with=same_without_inputs,
    validation=FactorValidation(),
)
