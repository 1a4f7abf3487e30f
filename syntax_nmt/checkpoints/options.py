"""Options in a checkpoint, of which fairseq would run some as code.

Loading with `weights_only=True` keeps code out of the pickle, but options are text, and fairseq
hands some of it to `eval` when it builds a model (`encoder_xformers_att_config` of a Transformer,
`decoder_attention` of an LSTM, layers of its convolutional models): an untrusted checkpoint could
run anything.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePath
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
# Exactly these. What is derived from them may hold other options as attributes than as items
# (torch's safe loader sets attributes of an OrderedDict), and fairseq reads both.
_PLAIN = frozenset({type(None), bool, int, float, complex})
_LISTS = frozenset({list, tuple})
# Numbers of numpy's; choices and files only of what a user gives: the safe loader makes neither.
_PLAIN_KINDS = (np.number, np.bool_, Enum, PurePath)
_DEPTH = 20  # of lists and mappings in each other; fairseq has four
_VALUES = 100_000
_SHOWN = 60


def executable_option(options: Any) -> str | None:
    """The first option that could run code, and how; None if there is none.

    Plain values are numbers, words, and lists and mappings of them, of Python's own types. Text
    that fairseq evaluates must be a literal (:func:`~syntax_nmt.checkpoints.literal.is_literal`);
    other text must do nothing when read as Python, and none may take its value from elsewhere
    (`${…}`; fairseq saves what such a reference stood for).

    Args:
        options: those of a checkpoint: its `args`, its `cfg`, or a part of them.
    """
    for count, (name, value) in enumerate(_values("", options, 0)):
        if count > _VALUES:
            return f"more than {_VALUES} options"
        if type(value) is str:
            allowed = _is_plain_text(name, value)
        else:
            allowed = type(value) in _PLAIN or isinstance(value, _PLAIN_KINDS)
        if not allowed:
            shown = repr(value)[:_SHOWN] if type(value) is str else type(value).__name__
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


def plain_container(options: Any) -> Any:
    """A mapping of options as the dictionary whose entries fairseq reads; anything else as it is.

    Args:
        options: of OmegaConf, a namespace or a dictionary. A namespace stays as it is where its
            attributes may be others than it lists: they are in something else than a dictionary,
            or one replaces what Python keeps of the object (`__dict__`).
    """
    if isinstance(options, (DictConfig, ListConfig)):
        return OmegaConf.to_container(options, resolve=False)
    if type(options) is Namespace and type(vars(options)) is dict:
        names = vars(options)
        if all(type(name) is str and not name.startswith("__") for name in names):
            return names
    return options


def _values(name: str, options: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every single value with the name that stands nearest to it; what holds them counts as one."""
    options = plain_container(options)
    if type(options) is dict and depth < _DEPTH:
        yield name, None
        for key, value in options.items():
            yield name, key
            yield from _values(str(key), value, depth + 1)
    elif type(options) in _LISTS and depth < _DEPTH:
        yield name, None
        for value in options:
            yield from _values(name, value, depth + 1)
    else:
        yield name, options
