"""Biases of self-attention that depend only on positions: baselines for syntax.

| bias | paper | here |
|---|---|---|
| decay | Harada and Watanabe, 2021, equations 5 and 6 with equal distances | `bias.Decay` |
| ALiBi | Press, Smith and Lewis, 2022, section 3 | `bias.ALiBi`, `syntax_nmt.backbone.alibi` |
| T5 | Raffel et al., 2020, section 2.1 | `bias.T5Bias`, `bias.t5_buckets` |

All are members `bias` of :class:`syntax_nmt.backbone.attention_modifier.AttentionModifier`.
"""

from syntax_nmt.methods.method import TRANSFORMER, TRANSFORMER_DECODER, TRANSFORMER_ENCODER, Method
from syntax_nmt.methods.position_bias.extension import DecoderPositionBias, EncoderPositionBias
from syntax_nmt.methods.position_bias.options import PositionBiasOptions

METHOD = Method(
    name="position biases",
    families=(TRANSFORMER,),
    options=PositionBiasOptions,
    extensions={
        TRANSFORMER_ENCODER: EncoderPositionBias,
        TRANSFORMER_DECODER: DecoderPositionBias,
    },
)
