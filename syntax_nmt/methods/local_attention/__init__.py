"""Local attention (Cui et al., 2019): near positions alone, a baseline of latent phrases.

Harada and Watanabe (2021) compare with it. Here the window is that of every head of the lowest
encoder layers.
"""

from syntax_nmt.methods.local_attention.extension import LocalAttention
from syntax_nmt.methods.local_attention.options import LocalAttentionOptions
from syntax_nmt.methods.method import TRANSFORMER, TRANSFORMER_ENCODER, Method

METHOD = Method(
    name="local attention",
    families=(TRANSFORMER,),
    options=LocalAttentionOptions,
    extensions={TRANSFORMER_ENCODER: LocalAttention},
    ignored_in_0_1_0={"local_attention_window": ("local_attention_layers",)},
)
