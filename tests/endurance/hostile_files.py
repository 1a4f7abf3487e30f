"""Checkpoints and data folders whose names, tensors or figures are others than they look."""

import os
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from smuggled_options import FILE
from torch import Tensor

COMMAND = "touch proof"  # in the working directory, as a name has no slash
LANGUAGE = f"tgt;{COMMAND};#"


class Attributed:
    """Is pickled as an object of another class with attributes.

    Args:
        value: a tensor or an ordered dictionary.
        attributes: what it is to have in addition.
    """

    def __init__(self, value: Any, attributes: dict[str, Any]) -> None:
        self.value, self.attributes = value, attributes

    def __reduce__(self) -> tuple:
        if isinstance(self.value, Tensor):
            make, arguments, *_ = self.value.__reduce_ex__(2)
            rebuild = torch._tensor._rebuild_from_type_v2
            return rebuild, (make, Tensor, arguments, self.attributes)
        return OrderedDict, (list(self.value.items()),), self.attributes


def _save(folder: Path, state: dict, task: dict[str, Any] | None = None, **changed: Any) -> None:
    cfg = {**state["cfg"], "task": {**state["cfg"]["task"], **(task or {})}}
    torch.save({**state, "cfg": cfg, **changed}, folder / FILE)


def _renamed(data: Path) -> None:
    """Gives every file of the target language a name that holds a command."""
    for path in list(data.glob("*tgt*")):
        path.rename(path.with_name(path.name.replace("tgt", LANGUAGE)))


def _fasta(data: Path) -> None:
    for split in ("train", "valid", "test"):
        (data / f"{split}.src-{LANGUAGE}.{LANGUAGE}.fasta").write_text(">a\nka\n")


def _format_of_a_checkpoint(state: dict, folder: Path, data: Path) -> None:
    """The texts are whole beside the file that is read in their place."""
    _renamed(data)
    _fasta(data)
    _save(folder, state, {"dataset_impl": "fasta", "target_lang": LANGUAGE})


def _format_of_a_folder(state: dict, folder: Path, data: Path) -> None:
    """The target has no other format, and the languages are those of the names of files."""
    _renamed(data)
    _fasta(data)
    for path in data.glob(f"*.{LANGUAGE}.[bi]*"):
        path.unlink()
    _save(folder, state, {"source_lang": None, "target_lang": None})


def _language_elsewhere(state: dict, folder: Path, data: Path) -> None:
    """A dictionary is read wherever the language leads."""
    elsewhere = data.parent / "dict.x"
    elsewhere.mkdir()
    (elsewhere / "y.txt").write_bytes((data / "dict.tgt.txt").read_bytes())
    (data / "dict.x").mkdir()
    _save(folder, state, {"target_lang": f"x/../../{elsewhere.name}/y"})


def _items_of_another(state: dict, folder: Path, data: Path) -> None:
    """`items()` of the weights gives none."""
    weights = Attributed(state["model"], {"items": OrderedDict})
    _save(folder, state, model=weights)


def _method_of_a_tensor(state: dict, folder: Path, data: Path) -> None:
    """A tensor of NaN that says of itself that it has no floating-point numbers."""
    name = "encoder.embed_tokens.weight"
    nothing = torch.full_like(state["model"][name], torch.nan)
    weight = Attributed(nothing, {"is_floating_point": OrderedDict})
    _save(folder, state, model={**state["model"], name: weight})


def _figure_by_name(state: dict, folder: Path, data: Path) -> None:
    """fairseq calls what has the name of a meter, whatever it is."""
    figures = {"default": [(1, "loss", "MetersDict", [(1, "loss", "AverageMeter", {})])]}
    _save(folder, state, extra_state={"metrics": figures, "train_iterator": {"epoch": 1}})


def _pipe(state: dict, folder: Path, data: Path) -> None:
    """Whoever opens it waits."""
    os.mkfifo(folder / FILE)


def _namespace_of_options(state: dict, folder: Path, data: Path) -> None:
    """Languages out of options that fairseq itself puts into groups."""
    task = {**state["cfg"]["task"], "dataset_impl": "fasta", "target_lang": LANGUAGE}
    _renamed(data)
    _fasta(data)
    model = {"arch": "transformer", "task": "translation", "share_all_embeddings": True}
    task = {name: value for name, value in task.items() if not name.startswith("_")}
    _save(folder, state, cfg=None, args=Namespace(**{**task, **model}))


# Each writes FILE into a folder, and changes a data folder.
FORMS: dict[str, Callable[[dict, Path, Path], None]] = {
    "format of a checkpoint": _format_of_a_checkpoint,
    "format in old options": _namespace_of_options,
    "format of a folder": _format_of_a_folder,
    "language elsewhere": _language_elsewhere,
    "items of another dictionary": _items_of_another,
    "method of a tensor": _method_of_a_tensor,
    "figure by name": _figure_by_name,
    "pipe": _pipe,
}
