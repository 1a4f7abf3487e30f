"""Options in a checkpoint that fairseq would run as code.

Loading with `weights_only=True` keeps code out of the pickle, but options are text, and fairseq
hands some of it to `eval` when it builds a model (`encoder_xformers_att_config` of a Transformer,
`decoder_attention` of an LSTM, layers of its convolutional models): a stranger's checkpoint could
run anything.
"""

from __future__ import annotations

import ast
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np
from omegaconf import DictConfig, ListConfig, OmegaConf

# Files may be called what they like, `checkpoints (2)` for one; no path is evaluated.
_FILE_NAMES = re.compile(
    r"data|parser_config|continue_once|replace_unk|filename|"
    r".*(path|paths|dir|file|pref|model|codes|project|repo|subset|json|yaml|bpe)"
)
_PLAIN = (type(None), bool, int, float, complex, np.generic, Enum)
_SHOWN = 60


def executable_option(options: Any) -> str | None:
    """The first option that could run code, and how; None if there is none.

    Plain values are numbers, words, and lists and mappings of them; text must not call anything
    when read as Python (`[(512, 3)] * 20` does not), nor take its value from elsewhere (`${…}`;
    fairseq saves what such a reference stood for).

    Args:
        options: those of a checkpoint: its `args`, its `cfg`, or a part of them.
    """
    if isinstance(options, (DictConfig, ListConfig)):
        options = OmegaConf.to_container(options, resolve=False)
    for name, value in _values("", options):
        shown = repr(value)[:_SHOWN]
        if isinstance(value, str):
            if _FILE_NAMES.fullmatch(name) is None and ("${" in value or _calls(value)):
                return f"option {name} is {shown}"
        elif not isinstance(value, _PLAIN):
            return f"option {name} is {type(value).__name__}, {shown}"
    return None


def _values(name: str, options: Any) -> Iterator[tuple[str, Any]]:
    """Every single value with the name that stands nearest to it."""
    if isinstance(options, Namespace):
        options = vars(options)
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield name, key
            yield from _values(str(key), value)
    elif isinstance(options, (list, tuple)):
        for value in options:
            yield from _values(name, value)
    else:
        yield name, options


def _calls(text: str) -> bool:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, (ast.Call, ast.Await)) for node in ast.walk(tree))
