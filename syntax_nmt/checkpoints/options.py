"""Options in a checkpoint that fairseq could run as code.

Loading with `weights_only=True` refuses code in the pickle, but options are text, and fairseq
passes some of them to `eval` when it builds a model (`encoder_xformers_att_config` of a
Transformer, `decoder_attention` of an LSTM, layers of its convolutional models): an untrusted
checkpoint could run anything.
"""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
from omegaconf import DictConfig, ListConfig, OmegaConf

from syntax_nmt.arguments import Namespace
from syntax_nmt.checkpoints import label_text
from syntax_nmt.checkpoints.literal import is_inert, is_literal
from syntax_nmt.data.data_bin_names import FORMATS, are_names

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
# File names may be arbitrary, such as `checkpoints (2)`; no path is evaluated.
_FILE_NAMES = re.compile(
    r"data|parser_config|source_segmenter|target_segmenter|continue_once|replace_unk|filename|"
    r".*(path|paths|dir|file|pref|model|codes|project|repo|subset|json|yaml|bpe)"
)
# fairseq makes paths of these, and one of its formats hands a path to a shell.
_NAMES = frozenset({"source_lang", "target_lang", "train_subset", "valid_subset", "gen_subset"})
_FORMAT = "dataset_impl"
# Exactly these types. Subclasses may have other options as attributes than as items (torch's safe
# loader sets attributes of an OrderedDict), and fairseq reads both.
_PLAIN = frozenset({type(None), bool, int, float, complex})
_LISTS = frozenset({list, tuple})
# NumPy's numbers; choices and files only from a user: the safe loader creates neither.
_PLAIN_KINDS = (np.number, np.bool_, Enum, PurePath)
_DEPTH = 20  # nesting of lists and mappings; fairseq has four levels
_VALUES = 100_000
_SHOWN = 60


def executable_option(options: Any) -> str | None:
    """The first option that could run code, and how; None if there is none.

    Plain values are numbers, strings, and lists and mappings of them, of Python's built-in types.
    Text that fairseq evaluates must be a literal
    (:func:`~syntax_nmt.checkpoints.literal.is_literal`); languages, splits and the format of texts
    are names; other text must do nothing when read as Python, and no text may refer to another
    value (`${…}`; fairseq saves the resolved value of a reference). Labels of annotation are data:
    encoded ones (:mod:`~syntax_nmt.checkpoints.label_text`) may be any, and so may the plain ones
    that version 0.3.0 kept in the namespace of a model, where OmegaConf does not look for
    references.

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
    """Whether fairseq passes the text of an option to `eval`."""
    return _EVALUATED.fullmatch(name) is not None


def _is_plain_text(name: str, text: str) -> bool:
    if name in label_text.OPTIONS and label_text.is_encoded(text):
        return True
    if "${" in text:
        return False
    if name in _NAMES:
        return are_names(text)
    if name == _FORMAT:
        return text in FORMATS
    if is_evaluated(name):
        return not text or is_literal(text)
    return _FILE_NAMES.fullmatch(name) is not None or is_inert(text)


def plain_container(options: Any) -> Any:
    """A mapping of options as the dictionary whose entries fairseq reads; other objects unchanged.

    Args:
        options: of OmegaConf, a namespace or a dictionary. A namespace is returned unchanged if its
            attributes may differ from those it lists: if they are not in a dictionary, or if one
            replaces Python's own (`__dict__`).
    """
    if isinstance(options, (DictConfig, ListConfig)):
        return OmegaConf.to_container(options, resolve=False)
    if type(options) is Namespace and type(vars(options)) is dict:
        names = vars(options)
        if all(type(name) is str and not name.startswith("__") for name in names):
            return names
    return options


def _values(name: str, options: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every single value with its nearest name; containers count as values, too."""
    in_namespace = type(options) is Namespace and depth > 0
    options = plain_container(options)
    if type(options) is dict and depth < _DEPTH:
        yield name, None
        for key, value in options.items():
            yield name, key
            if not (in_namespace and key in label_text.OPTIONS and type(value) is str):
                yield from _values(str(key), value, depth + 1)
    elif type(options) in _LISTS and depth < _DEPTH:
        yield name, None
        for value in options:
            yield from _values(name, value, depth + 1)
    else:
        yield name, options
