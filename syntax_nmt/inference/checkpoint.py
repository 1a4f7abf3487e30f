"""Loads a trained model and its task from a checkpoint, for text without annotation files."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

import syntax_nmt.plugin  # noqa: F401  registers the models and lets torch's safe loader read them
from syntax_nmt.checkpoints.check import check_loaded
from syntax_nmt.checkpoints.task_checkpoints import check_vocabularies
from syntax_nmt.data.annotation import LOADED_KINDS
from syntax_nmt.data.annotation.columns import LOADING
from syntax_nmt.data.data_bin_names import format_of
from syntax_nmt.data.prepared_text import prepared_folder
from syntax_nmt.errors import UserError, reason_of
from syntax_nmt.parsing.analyser import check_device

# No annotation file is read, no token is omitted. The caller sets a parser for models that read
# parses.
_TEXT_ALONE = {
    **{kind.option: False for kind in LOADED_KINDS},
    **{option: None for option in LOADING.values()},
    "parser_config": None,
    "print_factors": False,
    "truncate_source": False,
    "num_batch_buckets": 0,
}
# Of embeddings, as fairseq's models and those of this package report them.
_OTHER_SIZE = ("size mismatch", "embed_tokens.weight is")


@contextmanager
def quiet_fairseq() -> Iterator[None]:
    """Within the context, suppresses fairseq's progress messages and a warning that it causes.

    The messages are dictionary sizes and the like; fairseq's iterators request pinned memory even
    without a GPU.
    """
    logger = logging.getLogger("fairseq")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="'pin_memory' argument is set as true")
            yield
    finally:
        logger.setLevel(level)


def load_model(
    path: str | Path, data: str | Path, device: torch.device
) -> tuple[BaseFairseqModel, FairseqTask, Any]:
    """Loads a model in evaluation mode, float32, with the dictionaries of a data folder.

    Args:
        data: the data-bin folder, or the folder of `prepare` that has it.
        device: where the model is to run.

    Returns:
        the model, its task, and fairseq's options of all groups as the checkpoint has them.

    Raises:
        UserError: there is no such file, it is no checkpoint, it does not fit the dictionaries,
            or the task refuses the folder.
    """
    if not Path(path).is_file():
        raise UserError(f"{path}: no such checkpoint: give the file that fairseq-train wrote")
    state = check_loaded(path)
    data = prepared_folder(Path(data))[1]
    if os.pathsep in str(data):
        raise UserError(
            f"{data}: fairseq takes {os.pathsep} for the end of a folder's name, where another one "
            "begins: rename the folder, or give a link to it"
        )
    overrides = {"data": str(data), "dataset_impl": format_of(data), **_TEXT_ALONE}
    try:
        models, cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], overrides)
    except Exception as error:  # a model or task that fairseq does not know, or of other options
        if any(said in str(error) for said in _OTHER_SIZE):
            raise UserError(
                f"{path}: the model's vocabulary is not that of {data}: give the data-bin folder "
                "that it was trained with"
            ) from error
        if isinstance(error, UserError):
            raise
        raise UserError(
            f"{path}: cannot be loaded ({reason_of(error)}): give a whole checkpoint of "
            f"fairseq-train"
        ) from error
    check_vocabularies(path, state, (task.source_dictionary, task.target_dictionary))
    return models[0].to(device).float().eval(), task, cfg


def choose_device(name: str | torch.device | None) -> torch.device:
    """The checked device of a name; by default a GPU if there is one.

    Args:
        name: `cpu`, `cuda` or `cuda:N`, or torch's object.

    Raises:
        UserError: there is no such device.
    """
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    name = "cpu" if str(name) == "cpu:0" else str(name)  # torch's other name of it
    check_device(name, "--device")
    return torch.device(name)
