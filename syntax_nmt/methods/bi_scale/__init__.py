"""The chunk-based bi-scale decoder (Zhou et al., ACL 2017).

A word state, a conditional GRU, changes at every word. A chunk state changes only where the
boundary gate, or in training the annotation, begins a chunk. Equations 8 and 9 read s_{t−1} and
y_{t−1}, equation 10 reads p_{t−1}: here s~_t, which has read both, and p~ stand in their place.

| paper | here |
|---|---|
| section 3: the chunk state p | `chunk_state.ChunkStateGRU` |
| equation 8: P(b_t), the boundary gate | `chunk_state.BoundaryGate` |
| equation 9: e, the representation of the last chunk | `chunk_state.ChunkStateGRU` |
| equation 10: pc, the attention of the chunk | `chunk_state.ChunkStateGRU` |
| section 3: the word state s, which reads p | `recurrence.BiScaleGRU` |
| output, and the score of a search with boundaries and tags | `decoder.BiScaleDecoder` |
| section 4: the type of a chunk | `decoder.ChunkTagClassifier` |
| section 4: losses of boundaries and tags | `loss.ChunkObjective` |
"""

from syntax_nmt.backbone.readout import TANH
from syntax_nmt.backbone.structures import CHUNKED
from syntax_nmt.data.annotation import CHUNKS
from syntax_nmt.methods.bi_scale.extension import BiScale, take_chunk_types
from syntax_nmt.methods.bi_scale.loss import ChunkObjective
from syntax_nmt.methods.bi_scale.options import STEP, BiScaleOptions, ChunkLossOptions
from syntax_nmt.methods.bi_scale.validation import ChunkValidation
from syntax_nmt.methods.method import (
    RNN,
    RNN_DECODER,
    RNN_SIZES,
    Loss,
    Method,
    Preset,
    TrainingRecipe,
)

# Zhou et al. (2017), section 4, with the readout of the dl4mt tutorial.
_NIST = {
    "encoder_embed_dim": 600,
    "encoder_hidden_size": 1000,
    "decoder_embed_dim": 600,
    "decoder_hidden_size": 1000,
    "decoder_out_embed_dim": 1000,
    "attention_dim": 1000,
    "readout": TANH,
}
_SIZES = {
    "": _NIST,
    "_tiny": {**RNN_SIZES["_tiny"], "readout": TANH},
    "_nist_zh_en": _NIST,
    "_wmt_de_en": _NIST,
}
# A context for every word: better validation than one for each chunk, over three seeds
# (examples/experiments/GAINS.md).
_SWITCHED_ON = {"conditional_gru": True, "bi_scale": True, "chunk_context": STEP}

METHOD = Method(
    name="bi-scale decoders",
    families=(RNN,),
    options=BiScaleOptions,
    extensions={RNN_DECODER: BiScale},
    loss=Loss(
        "chunk_cross_entropy",
        ChunkObjective,
        ChunkLossOptions,
        {"--boundary-weight": 1.0, "--chunk-tag-weight": 1.0},
    ),
    presets={"bi_scale_rnn": Preset(RNN, _SWITCHED_ON, _SIZES)},
    recipes=(
        TrainingRecipe(
            "a bi-scale decoder over the target's chunks",
            "bi_scale_rnn",
            "bi_scale",
            criterion="chunk_cross_entropy",
            needs=(CHUNKS,),
            family=RNN,
        ),
    ),
    extractable={CHUNKED: "--arch bi_scale_rnn"},
    take_from_data=take_chunk_types,
    validation=ChunkValidation(),
)
