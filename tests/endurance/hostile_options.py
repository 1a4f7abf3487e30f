"""Options that fairseq alone would run as code, and the checkpoints that carry them."""

import copy
from argparse import Namespace
from collections.abc import Callable
from typing import Any

# Each makes a file, `{}`, where fairseq evaluates it; the first has no call in its syntax tree.
ASSIGNING = (
    "[argparse.Namespace['touch {}'] for argparse.Namespace.__class_getitem__ in [os.system]]"
)
PAYLOADS = (
    ASSIGNING,
    "{{argparse.Namespace['touch {}'] for argparse.Namespace.__class_getitem__ in (os.system,)}}",
    "{{1: argparse.Namespace['touch {}'] for argparse.Namespace.__class_getitem__ in [os.system]}}",
    "[*(argparse.Namespace['touch {}'] for argparse.Namespace.__class_getitem__ in [os.system])]",
    "[1 for argparse.Namespace.__class_getitem__ in [os.system] if argparse.Namespace['touch {}']]",
    "[argparse.Namespace['touch {}'] for [argparse.Namespace.__class_getitem__] in [[os.system]]]",
    "[f\"{{os.a['touch {}']}}\" for os.a in [argparse.Namespace] for os.a.__class_getitem__ in "
    "[os.system]]",
    "__import__('os').system('touch {}')",
    " \tos.system('touch {}')",
    "(lambda: os.system('touch {}'))()",
    "[os.system(c) for c in ['touch {}']]",
    "f\"{{os.system('touch {}')}}\"",
    "{{'name': os.system('touch {}')}}",
    "(x := os.system('touch {}'))",
    "1 if os.system('touch {}') else 2",
    "0 < os.system('touch {}') < 1",
    "not os.system('touch {}')",
    "-os.system('touch {}')",
    "[(512, 3)] * (1 + os.system('touch {}'))",
    "[(512, 3)] + [os.system('touch {}')]",
    "[1, 2][os.system('touch {}') :]",
    "{{**{{os.system('touch {}'): 1}}}}",
    "[*[os.system('touch {}')]]",
    "exec('import os; os.system(\"touch {}\")')",
    "getattr(os, 'sys' + 'tem')('touch {}')",
    "ｏｓ.system('touch {}')",
    "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['system']('touch {}')",
)

OPTION = "encoder_xformers_att_config"


def _in_model(state: dict, text: str) -> None:
    model = state["cfg"]["model"]
    (vars(model) if isinstance(model, Namespace) else model)[OPTION] = text


def _in_a_mapping(state: dict, text: str) -> None:
    model = state["cfg"]["model"]
    state["cfg"]["model"] = {**(vars(model) if isinstance(model, Namespace) else model)}
    _in_model(state, text)


def _nested(state: dict, text: str) -> None:
    state["cfg"]["model"] = {"_name": "transformer", "encoder": {"xformers_att_config": text}}


def _as_arguments(state: dict, text: str) -> None:
    cfg = state["cfg"]
    options = {"arch": "transformer", "task": "translation", OPTION: text}
    state["args"], state["cfg"] = Namespace(**{**cfg["task"], **options}), None


def _as_yaml(state: dict, text: str) -> None:
    """OmegaConf reads text as YAML."""
    quoted = text.replace("'", "''")
    state["cfg"] = f"model:\n  _name: transformer\n  {OPTION}: '{quoted}'\n"


def _of_a_recurrent_model(state: dict, text: str) -> None:
    state["cfg"]["model"] = {"_name": "lstm", "arch": "lstm", "decoder_attention": text}


def _of_a_language_model(state: dict, text: str) -> None:
    state["cfg"]["model"] = {"_name": "transformer_lm", "character_filters": text}
    state["cfg"]["task"] = {"_name": "language_modeling", "data": "."}


def _of_another_task(state: dict, text: str) -> None:
    """No hook of ours would be asked while it is built."""
    state["cfg"]["task"] = {**state["cfg"]["task"], "_name": "translation"}
    _in_model(state, text)


CARRIERS: dict[str, Callable[[dict, str], None]] = {
    "options of the model": _in_model,
    "a mapping": _in_a_mapping,
    "nested": _nested,
    "old arguments": _as_arguments,
    "YAML": _as_yaml,
    "recurrent model": _of_a_recurrent_model,
    "language model": _of_a_language_model,
    "another task": _of_another_task,
}


def with_option(state: dict[str, Any], text: str, carrier: str = "options of the model") -> dict:
    """A checkpoint's content with text where fairseq evaluates it.

    Args:
        state: of a good checkpoint.
        text: the option.
        carrier: where it stands.
    """
    changed = {**state, "cfg": copy.deepcopy(state["cfg"])}
    CARRIERS[carrier](changed, text)
    return changed
