"""The mean of the weights of several checkpoints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from omegaconf import OmegaConf
from torch import Tensor

import syntax_nmt.plugin  # noqa: F401  lets torch's safe loader read fairseq's checkpoints
from syntax_nmt.arguments import flag
from syntax_nmt.checkpoints.check import check_checkpoint
from syntax_nmt.checkpoints.loading import check_buildable
from syntax_nmt.checkpoints.resumed import switched
from syntax_nmt.checkpoints.task_checkpoints import VOCABULARIES
from syntax_nmt.errors import UserError, errors_of, reason_of
from syntax_nmt.models.options import METHOD_SWITCHES
from syntax_nmt.progress import Progress

_REMEDY = "average checkpoints of one training"


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Any]:
    """The first checkpoint with the mean of the weights of all, without optimizer state and EMA.

    Sums are kept in float32 (float64 for float64 weights), one checkpoint is in memory at a time,
    and weights that a model shares stay shared. Integers are taken from the first checkpoint.

    Args:
        paths: checkpoints of fairseq-train.

    Raises:
        UserError: a file is no checkpoint, of another training than the first, or given twice; or
            the options of the first could run code or are of no translation or language model.
    """
    for number, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:number]]:
            raise UserError(f"{path}: is given twice, and would count as two: leave one out")
    state = _load(paths[0])
    about = _about(state)
    state["cfg"] = OmegaConf.to_container(state["cfg"], resolve=True, enum_to_str=True)
    with errors_of(paths[0]):
        check_buildable(state["cfg"])  # every program will build from the result
    weights = state["model"]
    shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
    owners = _owners(weights)
    sums = {
        name: weight.to(torch.promote_types(weight.dtype, torch.float32), copy=True)
        for name, weight in weights.items()
        if owners[name] == name and weight.is_floating_point()
    }
    for path in Progress(paths[1:], "averaging", "checkpoints"):
        other = _load(path)
        others = other["model"]
        _check_same(path, {n: tuple(w.shape) for n, w in others.items()}, paths[0], shapes)
        _check_about(path, _about(other), paths[0], about)
        for name, total in sums.items():
            total.add_(others[name])
    for total in sums.values():
        total.div_(len(paths))
    state["model"] = {name: sums.get(owner, weights[owner]) for name, owner in owners.items()}
    state["last_optimizer_state"] = None
    state.get("extra_state", {}).pop("ema", None)  # of the first checkpoint's weights
    return state


def _owners(weights: dict[str, Tensor]) -> dict[str, str]:
    """For each name the first that has the same weight, under which it is summed."""
    first: dict[tuple[Any, ...], str] = {}
    owners = {}
    for name, weight in weights.items():
        place = weight.data_ptr(), weight.dtype, weight.shape, weight.stride()
        owners[name] = first.setdefault(place, name)
    return owners


def _load(path: Path) -> dict[str, Any]:
    check_checkpoint(path)
    try:
        return checkpoint_utils.load_checkpoint_to_cpu(str(path))
    except Exception as error:  # options of a fairseq that this one does not understand
        raise UserError(
            f"{path}: cannot be loaded ({reason_of(error)}): give whole checkpoints of "
            f"fairseq-train"
        ) from error


def _check_same(
    path: Path,
    shapes: dict[str, tuple[int, ...]],
    first_path: Path,
    first_shapes: dict[str, tuple[int, ...]],
) -> None:
    """Refuses weights that another model has."""
    for name in sorted({*shapes, *first_shapes}):
        here, there = shapes.get(name), first_shapes.get(name)
        if here != there:
            raise UserError(
                f"{path}: {name} is {_describe(here)}, in {first_path} it is {_describe(there)}: "
                f"{_REMEDY}"
            )


def _check_about(
    path: Path, about: dict[str, Any], first_path: Path, first_about: dict[str, Any]
) -> None:
    """Refuses weights of the same shapes that another training made."""
    for what, here in about.items():
        if None not in (here, first_about[what]) and here != first_about[what]:
            raise UserError(f"{path}: has another {what} than {first_path}: {_REMEDY}")


def _about(state: dict[str, Any]) -> dict[str, Any]:
    """What models have in common whose weights may be averaged; None = not known."""
    model, task, common = (state["cfg"].get(group) for group in ("model", "task", "common"))
    methods = switched(model, METHOD_SWITCHES)
    return {
        "architecture": getattr(model, "arch", None),
        "source language": getattr(task, "source_lang", None),
        "target language": getattr(task, "target_lang", None),
        "vocabulary": (state.get("task_state") or {}).get(VOCABULARIES),
        "--seed": getattr(common, "seed", None),
        **{flag(name): str(value) for name, value in methods.items()},
    }


def _describe(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return "missing"
    return "×".join(map(str, shape)) or "a single number"
