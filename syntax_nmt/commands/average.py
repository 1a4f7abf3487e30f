"""`syntax-nmt average`: one checkpoint whose weights are the mean of several."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from omegaconf import OmegaConf
from torch import Tensor

import syntax_nmt.plugin  # noqa: F401  lets torch's safe loader read fairseq's checkpoints
from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.checkpoints.check import check_checkpoint, reason_of
from syntax_nmt.checkpoints.loading import check_buildable
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.data.text_columns import counted
from syntax_nmt.data.text_files import check_writable, write_binary_atomically
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.inference.checkpoint import quiet_fairseq
from syntax_nmt.progress import Progress
from syntax_nmt.reporting.output import tell

EXAMPLE = "syntax-nmt average checkpoints --last 5 --output checkpoints/averaged.pt"

# How fairseq names the checkpoints that it keeps; the group gives their order.
UPDATES, EPOCHS = "updates", "epochs"
_NAMES = {UPDATES: r"checkpoint_\d+_(\d+)\.pt", EPOCHS: r"checkpoint(\d+)\.pt"}
# How fairseq-train is told to write them.
_KEEPING = {UPDATES: "with --save-interval-updates N", EPOCHS: "without --no-epoch-checkpoints"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument(
        "inputs", nargs="+", type=Path, help="checkpoint files, or one folder with --last"
    )
    add_numbers(parser, positive_int, last="use the N latest checkpoints of the folder")
    parser.add_argument(
        "--by",
        choices=list(_NAMES),
        help="the checkpoints that --last counts: those that fairseq-train wrote after a number of "
        "updates (checkpoint_EPOCH_UPDATE.pt) or after epochs (checkpointEPOCH.pt) "
        f"(default: {UPDATES})",
    )
    parser.add_argument("--output", type=Path, required=True, help="checkpoint to write")


def run(args: argparse.Namespace) -> None:
    """Averages and writes.

    Raises:
        UserError: there are fewer checkpoints than `--last`, or they are not of one model.
    """
    require_companion_options(args, {"by": ("last",)})
    paths = _chosen(args.inputs, args.last, args.by or UPDATES)
    check_writable(args.output, *paths)
    with quiet_fairseq():
        state = average_checkpoints(paths)
    with write_binary_atomically(args.output) as stream:
        torch.save(state, stream)
    tell(f"{args.output}: the mean of {', '.join(path.name for path in paths)}")


def average_checkpoints(paths: Sequence[Path]) -> dict[str, Any]:
    """The first checkpoint with the mean of the weights of all, without optimizer state and EMA.

    Sums are kept in float32 (float64 for float64 weights), one checkpoint is in memory at a time,
    and weights that a model shares stay shared. Integers are taken from the first checkpoint.

    Args:
        paths: checkpoints of fairseq-train.

    Raises:
        UserError: a file is no checkpoint, its weights have other names or shapes, or the options
            of the first could run code or are of no translation or language model.
    """
    state = _load(paths[0])
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
        others = _load(path)["model"]
        _check_same(path, {n: tuple(w.shape) for n, w in others.items()}, paths[0], shapes)
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


def _chosen(inputs: Sequence[Path], last: int | None, by: str) -> list[Path]:
    """The checkpoints that the arguments name, the latest first with `--last`."""
    if last is None:
        for path in inputs:
            if path.is_dir():
                raise UserError(f"{path}: a folder: say with --last N how many of its checkpoints")
        return list(inputs)
    folder = inputs[0]
    if len(inputs) > 1 or not folder.is_dir():
        raise UserError(f"--last {last} takes one folder of checkpoints, not {inputs[-1]}")
    found = checkpoint_utils.checkpoint_paths(str(folder), _NAMES[by])
    if len(found) < last:
        raise UserError(
            f"{folder}: has {counted(len(found), 'checkpoint')} by {by}, --last {last} needs "
            f"{last}: train {_KEEPING[by]}, which keeps them beside the best and the last one, or "
            f"choose with --by"
        )
    return [Path(path) for path in found[:last]]


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
                "average checkpoints of one training"
            )


def _describe(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return "missing"
    return "×".join(map(str, shape)) or "a single number"
