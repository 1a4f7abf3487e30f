"""`syntax-nmt average`: one checkpoint whose weights are the mean of several."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from syntax_nmt.arguments import add_numbers, positive_int
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.data.text_columns import counted
from syntax_nmt.data.text_files import check_writable, write_binary_atomically
from syntax_nmt.errors import UserError
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
    import torch

    from syntax_nmt.inference.averaging import average_checkpoints
    from syntax_nmt.inference.checkpoint import quiet_fairseq

    require_companion_options(args, {"by": ("last",)})
    paths = _chosen(args.inputs, args.last, args.by or UPDATES)
    check_writable(args.output, *paths)
    with quiet_fairseq():
        state = average_checkpoints(paths)
    with write_binary_atomically(args.output) as stream:
        torch.save(state, stream)
    tell(f"{args.output}: the mean of {', '.join(map(str, paths))}")


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
    from fairseq import checkpoint_utils

    found = checkpoint_utils.checkpoint_paths(str(folder), _NAMES[by])
    if len(found) < last:
        raise UserError(
            f"{folder}: has {counted(len(found), 'checkpoint')} by {by}, --last {last} needs "
            f"{last}: train {_KEEPING[by]}, which keeps them beside the best and the last one, or "
            f"choose with --by"
        )
    return [Path(path) for path in found[:last]]
