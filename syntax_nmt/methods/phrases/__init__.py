"""Phrase representation (Xu et al., ACL 2020).

Every encoder and decoder layer also attends to phrases of the source. Each encoder layer computes
their vectors from the tokens that it reads.

| equation | here |
|---|---|
| section 3: n-grams; phrases of a tree, Algorithm 1 | `segmentation`; `syntax_nmt.data.phrases` |
| 2–5: summary, scores, weights, phrase vector | `representation.PhraseRepresentation` |
| 6: a mixture of all encoder layers (+TA) | `transparent_attention.TransparentAttention` |
| 7, 8: attention to phrases, combined with the tokens | `combination.AttentiveCombination` |
| attention to a memory as short as phrases are | `mapped_attention.MappedAttention` |
| the order of the sublayers, of encoder and decoder | `layers` |
| the phrases that the decoder reads | `memory.PhraseMemory` |
| what is added to encoder and decoder | `extension` |
"""

from typing import Any

from syntax_nmt.data.annotation import PHRASES
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)
from syntax_nmt.methods.phrases.extension import DecoderPhrases, EncoderPhrases
from syntax_nmt.methods.phrases.options import NGRAM, PhraseOptions

_SWITCHED_ON = {
    "phrase_segmentation": NGRAM,
    "phrase_attention": True,
    "transparent_attention": True,
}


def _combine_dim(options: Any) -> int:
    """The hidden width of attentive combinations: three times the encoder's.

    It accounts for the 40.9 M parameters that the first step of the paper's Table 2 adds:
    12 layers × (4 C² + 3 C · 3 C). It is inferred; the paper does not state it.
    """
    return int(3 * options.encoder_embed_dim)


METHOD = Method(
    name="phrases",
    families=(TRANSFORMER,),
    options=PhraseOptions,
    extensions={TRANSFORMER_ENCODER: EncoderPhrases, TRANSFORMER_DECODER: DecoderPhrases},
    presets={
        "phrase_transformer": Preset(
            TRANSFORMER, _SWITCHED_ON, derived={"phrase_combine_dim": _combine_dim}
        )
    },
    recipes=(  # twice the usual warm-up, as in the paper
        TrainingRecipe(
            "phrases, n-grams",
            "phrase_transformer",
            "ngrams",
            warmups=2,
        ),
        TrainingRecipe(
            "phrases of the source's constituents",
            "phrase_transformer",
            "phrases",
            ("--phrase-segmentation", "parsed"),
            variant="parsed",
            needs=(PHRASES,),
            reads=(PHRASES,),
            warmups=2,
        ),
    ),
    ignored_in_0_1_0={"phrase_segmentation": ("phrase_summary",)},
)
