"""Relation networks over the words of the source (Zhang et al., COLING 2018).

Layers between the GRUs of an RNN encoder, or on top of any encoder, relate every word to every
other word.

| equation | here |
|---|---|
| 7: convolutions, c | `convolutions.WordConvolutions` |
| 8, 9: messages of all pairs, and their mean, r | `propagation.GraphPropagation` |
| 10: back to the width of the words, o | `layer.RelationNetworkLayer` |
| 11, 12: residual and dense connections (section 3) | `interleaved_encoder` |
| GRUs and layers by turns (section 5.2) | `interleaved_encoder` |
| one layer on a bidirectional GRU (section 3, figure 2) | `top.RelationOnTop` |
| the baseline encoder of the released code | `interleaved_encoder` |
| 1: RNNsearch's encoder | `syntax_nmt.backbone.rnn_encoder.BidirectionalEncoder` |
| 2–4, 13: decoders of RNNsearch and RNNsearch* | `syntax_nmt.backbone.attentive_recurrence` |
"""

from syntax_nmt.methods.method import (
    RNN,
    RNN_ENCODER,
    TRANSFORMER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.relation_network.extension import RelationAmongGRUs, RelationOnTransformer
from syntax_nmt.methods.relation_network.options import RelationOptions

# Zhang et al. (2018), section 5.2: NIST Zh-En, and WMT En-De.
_NIST = {"relation_kernels": "1:128,3:256", "relation_hidden_dim": 256}
_SIZES = {
    "": _NIST,
    "_tiny": {"relation_kernels": "3:32", "relation_hidden_dim": 32},
    "_nist_zh_en": _NIST,
    "_wmt_en_de": {"relation_kernels": "3:96", "relation_hidden_dim": 128},
}

METHOD = Method(
    name="relation networks",
    families=(TRANSFORMER, RNN),
    options=RelationOptions,
    extensions={RNN_ENCODER: RelationAmongGRUs, TRANSFORMER_ENCODER: RelationOnTransformer},
    presets={"relation_rnn": Preset(RNN, {"conditional_gru": True}, _SIZES)},
    recipes=(
        TrainingRecipe(
            "a relation network",
            "relation_rnn",
            "relation",
            family=RNN,
        ),
    ),
    ignored_in_0_1_0={"relation_kernels": ("relation_hidden_dim",)},
    other_switches=("encoder_gru", "relation_dense_embedding"),
)
