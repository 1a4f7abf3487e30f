"""A killed training that is started again: the checkpoint that it resumes from, and its end."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.data import Dictionary
from fairseq.distributed.utils import get_global_rank
from fairseq.file_io import PathManager

from syntax_nmt.checkpoints.resumed import (
    finish_interrupted_copy,
    refuse_other_criterion,
    refuse_other_labels,
    refuse_other_method,
    warn_of_changed_options,
)
from syntax_nmt.checkpoints.task_checkpoints import (
    check_direction,
    check_weights,
    interpolated_option,
)
from syntax_nmt.errors import UserError, is_a_program_of_fairseq
from syntax_nmt.models.options import METHOD_SWITCHES
from syntax_nmt.task.checkpoint_folder import check_room, lock_checkpoints

STATE = "patience"  # in a checkpoint's state of the task

_LAST = "checkpoint_last.pt"  # fairseq's default of --restore-file, looked for in --save-dir
_BEST, _COUNT = "best", "num_runs"  # as fairseq calls them
# Modules of fairseq's function that stops a training: of a program that was started by its file, of
# its child processes, and of all others.
_MODULES = ("__main__", "__mp_main__", "fairseq_cli.train")


class Resuming:
    """The state that a training resumes from.

    A killed training that is started again ends as if it had not been killed. Plain fairseq fails
    this in four ways: from the second epoch on, batches depend on the epoch in which the process
    began (`task/batches.py`); `checkpoint_last.pt` can be incomplete; `--patience` restarts its
    count; a training that had reached `--max-update` makes one more update.

    Args:
        cfg: the options of the task, with those of the training.
    """

    def __init__(self, cfg: Any) -> None:
        self._cfg = cfg
        self._updates_before = 0  # made before the checkpoint that fairseq resumes from
        self._resumed: str | None = None  # the checkpoint, if it is this training's own
        self._begin: str | None = None
        self._saved: Mapping[str, Any] = {}  # the options in that checkpoint
        self._criterion: str | None = None  # that the updates were made with

    def begin(self, vocabularies: tuple[Dictionary, Dictionary]) -> None:
        """Finds and checks the checkpoint that fairseq will load; completes an incomplete one.

        Args:
            vocabularies: of source and target.

        Raises:
            UserError: it is missing, damaged, of other data or of the other direction.
        """
        forget_training_before()
        folder = self._written_folder()
        if folder is not None and is_a_program_of_fairseq():  # not a model that is only built
            lock_checkpoints(folder)
        self._begin = self.checkpoint()
        if self._begin is None:
            return
        state = check_weights(self._begin, vocabularies)
        self._saved = state.get("cfg") or {}
        # fairseq continues counting only with the state of the optimizer.
        tuned = self._option("finetune_from_model")
        fresh = self._begin == tuned or self._option("reset_optimizer")
        if not fresh and state.get("last_optimizer_state") is not None:
            history = state.get("optimizer_history") or [{}]
            self._updates_before = history[-1].get("num_updates", 0)
            self._criterion = history[-1].get("criterion_name")
        if self._begin == self._last():
            check_direction(self._begin, state, self._cfg)
            self._resumed = self._begin
            if not self._option("reset_meters"):
                _resume_count(state)

    def tell(self, model: Any) -> None:
        """Tells a model of this package which file its weights will come from, if any.

        Args:
            model: that was built for the training.
        """
        if self._begin is not None:
            model.origin = self._begin
            tuned = self._option("finetune_from_model")
            model.begins_with_weights_of_another = self._begin == tuned

    def check_model(self, model: Any, options: Any) -> None:
        """Compares a model with that of the resumed checkpoint, and logs other options.

        Args:
            options: of the model, after it was built.

        Raises:
            UserError: it is of another method or other labels, or the disk has no room for it.
        """
        folder = self._written_folder()
        if folder is not None and Path(folder).is_dir():
            check_room(folder, model)
        saved = self._saved.get("model")
        if self._resumed is not None:
            refuse_other_method(self._resumed, saved, options, METHOD_SWITCHES)
        if self._begin is not None:
            refuse_other_labels(self._begin, saved, getattr(model, "annotation_labels", {}))
        self._warn_of_changed_options("model", model, options)

    def check_criterion(self, criterion: Any, options: Any) -> None:
        """Compares a criterion with that of the checkpoint, and logs other options.

        Raises:
            UserError: it is another, so that fairseq cannot use the state of the optimizer.
        """
        if self._begin is not None:
            refuse_other_criterion(self._begin, self._criterion, criterion)
        self._warn_of_changed_options("criterion", criterion, options)

    def _warn_of_changed_options(self, group: str, built: Any, options: Any) -> None:
        if self._resumed is not None and get_global_rank() == 0:
            warn_of_changed_options(self._resumed, built, self._saved.get(group), options)

    def end(self) -> str | None:
        """Why the training had ended before this process; None if it had not."""
        wanted, updates = self._option("max_update") or 0, self._updates_before
        if 0 < wanted <= updates:
            return f"{updates} updates have been made, --max-update {wanted} are wanted"
        patience = self._option("patience") or 0
        return f"--patience {patience} ended the training" if is_at_end(patience) else None

    def checkpoint(self) -> str | None:
        """The checkpoint that fairseq will load, completed; None = training starts from the
        beginning.

        Raises:
            UserError: there is no such file, or it cannot be completed.
        """
        restore, folder = self._option("restore_file"), self._option("save_dir")
        if restore is None or folder is None:
            return None
        last = self._last()
        if restore != _LAST:
            begin = self._of_this_worker(restore)
            # There may be one file per worker instead, whose number fairseq adds later.
            shard = begin.replace(".pt", "-shard0.pt")
            if not any(map(PathManager.isfile, (begin, shard))):
                if Path(restore).name == _LAST:  # scripts may name it before it exists
                    return None
                raise UserError(
                    f"--restore-file {restore}: no such file; leave the option out to resume from "
                    f"{_LAST} of --save-dir"
                )
            if last is None or not (os.path.exists(begin) and os.path.samefile(begin, last)):
                return begin
        if last is not None:
            finish_interrupted_copy(Path(last))
            return last
        once: str | None = self._option("continue_once")
        if once is not None:
            return once
        # Perhaps an address that only fairseq's path manager knows.
        tuned: str | None = self._option("finetune_from_model")
        if tuned is not None and not PathManager.isfile(tuned):
            raise UserError(f"--finetune-from-model {tuned}: no such file; give a checkpoint")
        return tuned

    def _written_folder(self) -> str | None:
        """The folder on a disk that this worker writes checkpoints to."""
        folder: str | None = self._option("save_dir")
        elsewhere = self._option("no_save") or folder is None or "://" in folder
        return None if elsewhere or get_global_rank() != 0 else folder

    def _last(self) -> str | None:
        """The checkpoint that a training with this `--save-dir` resumes from, if it is there."""
        folder = self._option("save_dir")
        if folder is None:
            return None
        last = Path(folder) / self._of_this_worker(_LAST)
        return str(last) if last.is_file() else None

    def _of_this_worker(self, name: str) -> str:
        """The file of this worker, as fairseq names it."""
        return name.replace(".pt", f"{self._option('checkpoint_suffix') or ''}.pt")

    def _option(self, name: str) -> Any:
        return interpolated_option(self._cfg, name)


def counted_validations() -> dict[str, float]:
    """The best validation loss and the number of validations since; empty before the first.

    fairseq stores both as attributes of the function that stops a training, but in no checkpoint.
    """
    decide = _deciding_function()
    return {name: getattr(decide, name) for name in (_BEST, _COUNT) if hasattr(decide, name)}


def forget_training_before() -> None:
    """Forgets the validations of an earlier training in this process.

    `fairseq-hydra-train -m` runs several trainings. fairseq would compare the losses of the second
    with the best of the first: it would stop too early, and save no best checkpoint.
    """
    for function in (_deciding_function(), checkpoint_utils.save_checkpoint):
        for name in (_BEST, _COUNT):
            getattr(function, "__dict__", {}).pop(name, None)


def is_at_end(patience: int) -> bool:
    """Whether enough validations followed the best one for a training to end.

    Args:
        patience: `--patience`; none if it is not positive.
    """
    return 0 < patience <= counted_validations().get(_COUNT, 0)


def _resume_count(checkpoint: Mapping[str, Any]) -> None:
    """Continues counting from a checkpoint."""
    counted = (checkpoint.get("task_state") or {}).get(STATE) or {}
    decide = _deciding_function()
    if decide is not None:
        for name in counted.keys() & {_BEST, _COUNT}:
            setattr(decide, name, counted[name])


def _deciding_function() -> Any:
    """None outside fairseq's programs."""
    modules = (sys.modules.get(name) for name in _MODULES)
    found = (getattr(module, "should_stop_early", None) for module in modules)
    return next(filter(None, found), None)
