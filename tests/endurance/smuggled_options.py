"""Checkpoints whose options look like others than fairseq builds from them."""

from argparse import Namespace
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from hostile_options import OPTION, with_option

FILE = "model.pt"


class _Made:
    """Is pickled as a call, and what is set afterwards: what an untrusted pickle may do.

    Args:
        made: the class of what comes back.
        state: as `__reduce__` has it; the second of a pair is set attribute by attribute.
    """

    def __init__(self, made: type, state: Any) -> None:
        self.reduced = (made, (), state)

    def __reduce__(self) -> tuple:
        return self.reduced


def _flat(state: dict, **more: Any) -> dict[str, Any]:
    """The options of a model as an old checkpoint has them, in one place."""
    languages = {name: state["cfg"]["task"][name] for name in ("source_lang", "target_lang")}
    common = {"arch": "transformer", "task": "translation", "share_all_embeddings": True}
    return {**languages, **common, "data": state["cfg"]["task"]["data"], **more}


def _hidden(options: dict[str, Any]) -> _Made:
    """A namespace with the options, of which `vars(…).items()` lists none."""
    return _Made(Namespace, (None, {"__dict__": OrderedDict(), **options}))


def _save(folder: Path, state: dict, *, name: str = FILE, **changed: Any) -> None:
    torch.save({**state, **changed}, folder / name)


def _of_model(state: dict, options: Any) -> dict[str, Any]:
    return {**state["cfg"], "model": options}


def _plain(state: dict, text: str, folder: Path) -> None:
    """Where everybody looks."""
    _save(folder, with_option(state, text))


def _ordered_dictionary(state: dict, text: str, folder: Path) -> None:
    args = _Made(OrderedDict, _flat(state, **{OPTION: text}))
    _save(folder, state, args=args, cfg=None)


def _counter(state: dict, text: str, folder: Path) -> None:
    _save(folder, state, args=_Made(Counter, _flat(state, **{OPTION: text})), cfg=None)


def _attributes_of_another_mapping(state: dict, text: str, folder: Path) -> None:
    """Options of a language model, which fairseq takes one by one."""
    model = {"arch": "transformer_lm", "character_embeddings": True, "character_filters": text}
    args = _flat(state, **{**model, "task": "language_modeling"})
    _save(folder, state, args=_hidden(args), cfg=None)


def _hidden_model(state: dict, text: str, folder: Path) -> None:
    """Only a part of the options is such a namespace; the task is fairseq's own."""
    options = _hidden(_flat(state, _name="transformer", **{OPTION: text}))
    cfg = _of_model(state, options)
    cfg["task"] = {**cfg["task"], "_name": "translation"}
    _save(folder, state, cfg=cfg)


def _shard(state: dict, text: str, folder: Path) -> None:
    """The file that is named is good; fairseq loads the one beside it."""
    _save(folder, state)
    args = Namespace(**_flat(state, **{OPTION: text}))
    _save(folder, state, name="model-shard0.pt", args=args, cfg=None)


def _second_file(state: dict, text: str, folder: Path) -> dict[str, str]:
    """Options of a model that loads it."""
    _save(folder, state, name="second.pt", args=Namespace(**_flat(state, **{OPTION: text})))
    return {"pretrained": "True", "pretrained_checkpoint": str(folder / "second.pt")}


def _other_name(state: dict, text: str, folder: Path) -> None:
    chain = _second_file(state, text, folder)
    options = _flat(state, _name="transformer", **{**chain, "arch": "fconv_self_att"})
    options["share_all_embeddings"] = False
    _save(folder, state, args=Namespace(**options), cfg=None)


def _other_model(state: dict, text: str, folder: Path) -> None:
    chain = _second_file(state, text, folder)
    options = _flat(state, model={"_name": "transformer"}, **{**chain, "arch": "fconv_self_att"})
    _save(folder, state, args=Namespace(**options), cfg=None)


def _other_task(state: dict, text: str, folder: Path) -> None:
    task = {**state["cfg"]["task"], "_name": "translation", "task": "denoising"}
    _save(folder, state, cfg={**state["cfg"], "task": task})


def _renamed(state: dict, text: str, folder: Path) -> None:
    """A name that nobody has, until fairseq makes today's name of it."""
    options = _flat(state, conv_feature_layers="[(1, 1, 1)]", **{"arch": "audio_cpc"})
    _save(folder, state, args=Namespace(**options), cfg=None)


def _criterion(state: dict, text: str, folder: Path) -> None:
    criterion = {"_name": "ctc", "wer_args": text, "zero_infinity": True, "sentence_avg": True}
    criterion.update(wer_kenlm_model=None, post_process="letter")
    _save(folder, state, cfg={**state["cfg"], "criterion": criterion})


def _named_criterion(state: dict, text: str, folder: Path) -> None:
    """Nothing of it is evaluated, but it builds another one, of whatever it is told."""
    criterion = Namespace(_name="cross_entropy", criterion="composite_loss")
    _save(folder, state, cfg={**state["cfg"], "criterion": criterion})


# Each writes FILE into a folder, and what it needs beside it.
FORMS: dict[str, Callable[[dict, str, Path], None]] = {
    "an option of the model": _plain,
    "attributes of an ordered dictionary": _ordered_dictionary,
    "attributes of a counter": _counter,
    "attributes of another mapping": _attributes_of_another_mapping,
    "attributes of another mapping, for the model": _hidden_model,
    "shard": _shard,
    "another name of the model": _other_name,
    "another place of the model": _other_model,
    "another name of the task": _other_task,
    "renamed by fairseq": _renamed,
    "criterion": _criterion,
    "another name of the criterion": _named_criterion,
}
# Those that run the text wherever fairseq alone builds a model of them.
RUNNING = (
    *("attributes of an ordered dictionary", "attributes of a counter"),
    *("attributes of another mapping", "attributes of another mapping, for the model", "shard"),
    *("another name of the model", "another place of the model"),
)
