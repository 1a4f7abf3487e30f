"""The sizes of the RNN family."""

from typing import Any

# Zhang et al. (2018), section 5.2: those of NIST Zh-En are the options' defaults.
RNN_SIZES: dict[str, dict[str, Any]] = {
    "": {},
    "_tiny": {"encoder_embed_dim": 128, "decoder_embed_dim": 128, "dropout": 0.1},
    "_nist_zh_en": {},
    "_wmt_en_de": {},
}
