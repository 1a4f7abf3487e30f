"""Options in a checkpoint, of which fairseq would run some as code.

Loading with `weights_only=True` keeps code out of the pickle, but options are text, and fairseq
hands some of it to `eval` when it builds a model (`encoder_xformers_att_config` of a Transformer,
`decoder_attention` of an LSTM, layers of its convolutional models): a stranger's checkpoint could
run anything.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np
from omegaconf import DictConfig, ListConfig, OmegaConf

from syntax_nmt.checkpoints.literal import is_inert, is_literal

# What fairseq evaluates. Its Transformer reads `encoder_xformers_att_config` into another option,
# so longer names that end with one of these count, too.
_EVALUATED = re.compile(
    r"(.*_)?(adafactor_eps|adam_betas|adamax_betas|lamb_betas|adaptive_input_cutoff|"
    r"adaptive_softmax_cutoff|character_filters|conv_aggregator_layers|conv_dec_config|"
    r"conv_enc_config|conv_feature_layers|conv_layers|input_layers|encoder_layers|decoder_layers|"
    r"encoder_attention|decoder_attention|decoder_zero_init|downsample|feature_encoder_spec|"
    r"gated_attention|self_attention|left_pad_source|left_pad_target|model_overrides|"
    r"optimizer_overrides|pipeline_(en|de)coder_(balance|devices)|pipeline_(balance|devices)|"
    r"pretrained|project_input|transformer_(context|sampling|dec_config|enc_config)|"
    r"vggblock_enc_config|wer_args|xformers_att_config)"
)
# Files may be called what they like, `checkpoints (2)` for one; no path is evaluated.
_FILE_NAMES = re.compile(
    r"data|parser_config|continue_once|replace_unk|filename|"
    r".*(path|paths|dir|file|pref|model|codes|project|repo|subset|json|yaml|bpe)"
)
_PLAIN = (type(None), bool, int, float, complex, np.generic, Enum)
_DEPTH = 20  # of lists and mappings in each other; fairseq has four
_VALUES = 100_000
_SHOWN = 60


def executable_option(options: Any) -> str | None:
    """The first option that could run code, and how; None if there is none.

    Plain values are numbers, words, and lists and mappings of them. Text that fairseq evaluates
    must be a literal (:func:`~syntax_nmt.checkpoints.literal.is_literal`); other text must do
    nothing when read as Python, and none may take its value from elsewhere (`${…}`; fairseq saves
    what such a reference stood for).

    Args:
        options: those of a checkpoint: its `args`, its `cfg`, or a part of them.
    """
    if isinstance(options, (DictConfig, ListConfig)):
        options = OmegaConf.to_container(options, resolve=False)
    for count, (name, value) in enumerate(_values("", options, 0)):
        if count > _VALUES:
            return f"more than {_VALUES} options"
        if isinstance(value, str):
            allowed = _is_plain_text(name, value)
        else:
            allowed = isinstance(value, _PLAIN)
        if not allowed:
            shown = repr(value)[:_SHOWN] if isinstance(value, str) else type(value).__name__
            return f"option {name} is {shown}"
    return None


def is_evaluated(name: str) -> bool:
    """Whether fairseq hands the text of an option to `eval`."""
    return _EVALUATED.fullmatch(name) is not None


def _is_plain_text(name: str, text: str) -> bool:
    if "${" in text:
        return False
    if is_evaluated(name):
        return not text or is_literal(text)
    return _FILE_NAMES.fullmatch(name) is not None or is_inert(text)


def _values(name: str, options: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every single value with the name that stands nearest to it; what holds them counts as one."""
    if isinstance(options, Namespace):
        options = vars(options)
    if depth == _DEPTH or not isinstance(options, (Mapping, list, tuple)):
        yield name, options
        return
    yield name, None
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield name, key
            yield from _values(str(key), value, depth + 1)
    else:
        for value in options:
            yield from _values(name, value, depth + 1)
