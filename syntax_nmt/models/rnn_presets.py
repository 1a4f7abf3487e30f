"""The named architectures (`--arch`) of the RNN family: systems in the papers' sizes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from fairseq.models import register_model_architecture

import syntax_nmt.models.syntax_rnn  # noqa: F401  presets name a registered model
from syntax_nmt.backbone.readout import TANH
from syntax_nmt.methods.bi_scale.options import STEP

# Sizes of Zhang et al. (2018), Section 5.2: those of NIST Zh-En are the options' defaults.
SIZES: dict[str, dict[str, Any]] = {
    "": {},
    "_tiny": {"encoder_embed_dim": 128, "decoder_embed_dim": 128, "dropout": 0.1},
    "_nist_zh_en": {},
    "_wmt_en_de": {},
}

# The relation network of each size.
RELATION: dict[str, dict[str, Any]] = {
    "": {"relation_kernels": "1:128,3:256", "relation_hidden_dim": 256},
    "_tiny": {"relation_kernels": "3:32", "relation_hidden_dim": 32},
    "_nist_zh_en": {"relation_kernels": "1:128,3:256", "relation_hidden_dim": 256},
    "_wmt_en_de": {"relation_kernels": "3:96", "relation_hidden_dim": 128},
}

# Sizes of Zhou et al. (2017), Section 4, with the readout of the dl4mt tutorial: word vectors 600,
# everything else 1000.
_BI_SCALE: dict[str, Any] = {
    "encoder_embed_dim": 600,
    "encoder_hidden_size": 1000,
    "decoder_embed_dim": 600,
    "decoder_hidden_size": 1000,
    "decoder_out_embed_dim": 1000,
    "attention_dim": 1000,
    "readout": TANH,
}
BI_SCALE: dict[str, dict[str, Any]] = {
    "": _BI_SCALE,
    "_tiny": {**SIZES["_tiny"], "readout": TANH},
    "_nist_zh_en": _BI_SCALE,
    "_wmt_de_en": _BI_SCALE,
}


def _register(name: str, **defaults: Any) -> None:
    """Registers a preset; `defaults` are of options, and the command line overrides them."""

    def fill_in(args: Namespace) -> None:
        for option, value in defaults.items():
            setattr(args, option, getattr(args, option, value))

    preset: Callable[[Namespace], None] = fill_in
    register_model_architecture("syntax_rnn", name)(preset)


for _suffix, _size in SIZES.items():
    _register("rnn_search" + _suffix, **_size)
    _register("rnn_search_cgru" + _suffix, conditional_gru=True, **_size)
    _register("relation_rnn" + _suffix, conditional_gru=True, **_size, **RELATION[_suffix])

# A context for every word: better validation than one for each chunk, over three seeds
# (examples/experiments/GAINS.md).
for _suffix, _size in BI_SCALE.items():
    _register(
        "bi_scale_rnn" + _suffix, conditional_gru=True, bi_scale=True, chunk_context=STEP, **_size
    )
