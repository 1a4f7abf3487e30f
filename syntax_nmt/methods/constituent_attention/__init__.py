"""Constituents in attention, by hierarchical accumulation (Nguyen et al., ICLR 2020).

Constituents of the source's trees are keys and queries beside the tokens. In the encoder, they read
their tokens and the constituents within them; tokens read tokens, so that their states are those of
a Transformer. Decoders attend to both.

| paper | here |
|---|---|
| upward cumulative average, weighted aggregation, embeddings | `accumulation.Accumulation` |
| L_i, B(i, j), places in trees | `accumulation.Constituents` |
| subtree masking | `accumulation.Constituents.attention_bias` |
| attention of the encoder | `attention.ConstituentSelfAttention` |
| attention of the decoder to the encoder | `attention.ConstituentCrossAttention` |

The trees are those of `syntax_nmt.data.merges`, binarised to the right and without labels: so one
learned vector is the state of all constituents before the lowest layer, where the paper has the
embeddings of labels of n-ary trees. The weights u have no bias. The divisor of S(i, j) and the
vertical places, counted from the token, are the paper's; the released code divides by k and counts
from the root.

Controls: without accumulation (`--constituent-values plain`), constituents read what is within them
by attention alone; with `--constituent-mask all` beside it, they are as many keys, and no tree.
"""

from syntax_nmt.data.annotation import TREES
from syntax_nmt.methods.constituent_attention.extension import (
    DecoderConstituents,
    EncoderConstituents,
)
from syntax_nmt.methods.constituent_attention.options import BOTH, ConstituentAttentionOptions
from syntax_nmt.methods.method import (
    TRANSFORMER,
    TRANSFORMER_DECODER,
    TRANSFORMER_ENCODER,
    Method,
    Preset,
    TrainingRecipe,
)

METHOD = Method(
    name="constituents in attention",
    families=(TRANSFORMER,),
    options=ConstituentAttentionOptions,
    extensions={
        TRANSFORMER_ENCODER: EncoderConstituents,
        TRANSFORMER_DECODER: DecoderConstituents,
    },
    presets={"constituent_transformer": Preset(TRANSFORMER, {"constituent_attention": BOTH})},
    recipes=(
        TrainingRecipe(
            "constituents in attention",
            "constituent_transformer",
            "constituents",
            needs=(TREES,),
            reads=(TREES,),
        ),
    ),
)
