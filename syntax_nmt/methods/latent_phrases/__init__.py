"""Synchronous latent phrase structure (Harada and Watanabe, ACL-SRW 2021).

The lowest layers induce phrases without annotation: syntactic distances between words gate their
self-attention. A loss makes source and target structures similar through the cross-attention.

| equation | here |
|---|---|
| 4: d, the syntactic distances | `attention.SyntacticDistance` |
| 5: α, the openness between two distances | `gates.hardtanh_log_openness`, `sigmoid_log_openness` |
| 5, 6: g, the product of α between two positions, as a logarithm | `gates.log_phrase_gates` |
| 6: attention times gates, normalised | `attention.PhraseGatedAttention` |
| 7: squared error of projected distances | `loss.mse_loss` |
| 8: ê, source distances seen from the target | `loss.project` |
| 10: rank loss of pairs of positions | `loss.rank_loss` |
| 11: λ·L_sync, added to the translation loss | `loss.SynchronousObjective` |
| which layers the constraint compares | `tied_layers` |
| compared with: near positions only | :mod:`syntax_nmt.methods.local_attention` |
| compared with: a constraint on attention (Deguchi et al., 2021) | `loss.attention_loss` |
"""

from syntax_nmt.backbone.structures import CONSTITUENTS
from syntax_nmt.methods.latent_phrases.extension import DecoderLatentPhrases, EncoderLatentPhrases
from syntax_nmt.methods.latent_phrases.loss import SynchronousObjective
from syntax_nmt.methods.latent_phrases.options import LatentPhraseOptions, SynchronousLossOptions
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)

METHOD = Method(
    name="latent phrases",
    families=(TRANSFORMER,),
    options=LatentPhraseOptions,
    extensions={
        TRANSFORMER_ENCODER: EncoderLatentPhrases,
        TRANSFORMER_DECODER: DecoderLatentPhrases,
    },
    loss=Loss(
        "synchronous_cross_entropy",
        SynchronousObjective,
        SynchronousLossOptions,
    ),
    presets={"latent_phrase_transformer": Preset(TRANSFORMER, {"latent_phrase_layers": 2})},
    recipes=(
        TrainingRecipe(
            "latent phrases",
            "latent_phrase_transformer",
            "latent",
            criterion="synchronous_cross_entropy",
        ),
    ),
    extractable={CONSTITUENTS: "--arch latent_phrase_transformer (or --latent-phrase-layers)"},
    ignored_in_0_1_0={
        "latent_phrase_layers": (
            "syntactic_distance_lookback",
            "syntactic_distance_temperature",
            "syntactic_distance_gate",
        ),
    },
)
