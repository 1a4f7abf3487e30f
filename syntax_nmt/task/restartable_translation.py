"""fairseq's translation task, whose trainings may be killed and started again.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

import argparse
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
from fairseq.criterions import FairseqCriterion
from fairseq.data import FairseqDataset
from fairseq.data.iterators import EpochBatchIterator
from fairseq.distributed.utils import get_global_rank
from fairseq.file_io import PathManager
from fairseq.models import BaseFairseqModel
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import II

from syntax_nmt.arguments import flag
from syntax_nmt.checkpoints.changed_options import warn_of_changed_options
from syntax_nmt.checkpoints.interrupted_copy import finish_interrupted_copy
from syntax_nmt.checkpoints.task_checkpoints import check_weights, interpolated_option
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.task.early_options import check_while_parsing
from syntax_nmt.task.patience import (
    STATE,
    counted_validations,
    forget_training_before,
    is_at_end,
    planned_updates,
    resume_count,
    warn_of_long_warmup,
)

logger = logging.getLogger(__name__)

_LAST = "checkpoint_last.pt"  # fairseq's default of --restore-file, looked for in --save-dir


@dataclass
class RestartableTranslationConfig(TranslationConfig):
    """fairseq's options of the translation task, and those of the training that a restart needs.

    The latter are not the task's own: each takes the value of the option it names.
    """

    save_dir: str = II("checkpoint.save_dir")
    restore_file: str = II("checkpoint.restore_file")
    continue_once: Optional[str] = II("checkpoint.continue_once")
    finetune_from_model: Optional[str] = II("checkpoint.finetune_from_model")
    checkpoint_suffix: str = II("checkpoint.checkpoint_suffix")
    reset_meters: bool = II("checkpoint.reset_meters")
    reset_optimizer: bool = II("checkpoint.reset_optimizer")
    patience: int = II("checkpoint.patience")
    max_update: int = II("optimization.max_update")
    cpu: bool = II("common.cpu")
    fp16: bool = II("common.fp16")
    memory_efficient_fp16: bool = II("common.memory_efficient_fp16")
    fp16_no_flatten_grads: bool = II("common.fp16_no_flatten_grads")
    tpu: bool = II("common.tpu")
    max_epoch: int = II("optimization.max_epoch")
    update_freq: Any = II("optimization.update_freq")  # noqa: RUF009  a list, by its name


class RestartableTranslationTask(TranslationTask):
    """A killed training that is started again ends as if it had not been killed.

    fairseq alone differs in four ways: from the second epoch on its batches depend on the epoch
    that the process began with; `checkpoint_last.pt` can be left half written; `--patience` begins
    to count anew; and a training that had reached `--max-update` makes one update more.
    """

    cfg: RestartableTranslationConfig
    _warmup = 0
    _updates_before = 0  # that the checkpoint has made from which fairseq goes on
    _resumed: Optional[tuple[str, Mapping[str, Any]]] = None  # a checkpoint, and its options

    @classmethod
    def add_args(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the options of the task, and checks of some that are not its own.

        Args:
            parser: of a program of fairseq.
        """
        super().add_args(parser)
        check_while_parsing(parser)

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Divides a dataset into batches, the same ones in whatever epoch a training resumes.

        fairseq draws the order of equally long sentences by the epoch in which it first splits the
        batches, and keeps these batches ever after: they are to be those of the first epoch.

        Args:
            **kwargs: as of fairseq's own task.

        Raises:
            SystemExit: a sentence has more tokens than a batch may; one line says so.
        """
        with exits_in_fairseq_programs():
            return self._batches(dataset, kwargs)

    def _batches(self, dataset: FairseqDataset, kwargs: dict[str, Any]) -> EpochBatchIterator:
        try:
            return self._same_batches(dataset, kwargs)
        except AssertionError as error:
            limit = kwargs.get("max_tokens")
            kept, _ = dataset.filter_indices_by_size(
                np.arange(len(dataset)), kwargs.get("max_positions")
            )
            longest = max(map(dataset.num_tokens, kept), default=0)
            if limit is None or longest <= limit:
                raise
            option = "--max-tokens" if self._trained in (None, dataset) else "--max-tokens-valid"
            raise UserError(
                f"{option} {limit}: a sentence has {longest} tokens: give at least as many"
            ) from error

    def _same_batches(self, dataset: FairseqDataset, kwargs: dict[str, Any]) -> EpochBatchIterator:
        kept = self.can_reuse_epoch_itr(dataset) and not (
            kwargs.get("disable_iterator_cache") or kwargs.get("update_epoch_batch_itr")
        )
        if not kept or dataset in self.dataset_to_epoch_iter:
            return super().get_batch_iterator(dataset, **kwargs)
        iterator = super().get_batch_iterator(dataset, **{**kwargs, "epoch": 1})
        if dataset is self._trained:
            self._warn_of_long_warmup(len(iterator))
        iterator.epoch = max(kwargs.get("epoch", 1), 1)
        dataset.set_epoch(iterator.epoch)
        return iterator

    @property
    def _trained(self) -> Optional[FairseqDataset]:
        """The split that is trained on, once it is loaded."""
        return self.datasets.get(interpolated_option(self.cfg, "train_subset"))

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> BaseFairseqModel:
        """Builds the model; before a training it checks the checkpoint to resume from.

        Args:
            from_checkpoint: whether its weights will be loaded: the model is not to be trained.

        Raises:
            UserError: that checkpoint is missing, damaged or of other data; one line says what to
                do.
        """
        if from_checkpoint:
            return super().build_model(cfg, from_checkpoint)
        forget_training_before()
        with exits_in_fairseq_programs():
            self._check_device(cfg)
            _check_kept_layers(cfg)
            begin = self._beginning()
            if begin is not None:
                self._look_into(begin)
        self._warmup = getattr(cfg, "warmup_updates", None) or 0
        model = super().build_model(cfg, from_checkpoint)
        if begin is not None:
            model.origin = begin
            model.begins_with_weights_of_another = begin == self._tuned()
        self._warn_of_changed_options("model", model, cfg)
        return model

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> FairseqCriterion:
        """Builds the criterion.

        Args:
            from_checkpoint: whether it is that of a checkpoint, not of a training.
        """
        criterion = super().build_criterion(cfg, from_checkpoint)
        self._warn_of_changed_options("criterion", criterion, cfg)
        return criterion

    def begin_epoch(self, epoch: int, model: Any) -> None:
        """What is done before the batches of an epoch, and before a thread prepares them.

        Raises:
            SystemExit: with status 0: the training is at its end, which fairseq does not ask
                before the first update.
        """
        end = self._end()
        if end is not None:
            logger.info(f"nothing to do: {end}; a new training needs a --save-dir of its own")
            raise SystemExit(0)
        super().begin_epoch(epoch, model)

    def _end(self) -> Optional[str]:
        """Why the training was at its end before this process; None if it was not."""
        wanted, updates = interpolated_option(self.cfg, "max_update") or 0, self._updates_before
        if 0 < wanted <= updates:
            return f"{updates} updates have been made, --max-update {wanted} are wanted"
        patience = interpolated_option(self.cfg, "patience") or 0
        return f"--patience {patience} ended the training" if is_at_end(patience) else None

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps of the task."""
        return {**super().state_dict(), STATE: counted_validations()}

    def _look_into(self, begin: str) -> None:
        """Checks the checkpoint to begin with; one that is resumed tells what went before."""
        state = check_weights(begin, (self.src_dict, self.tgt_dict))
        # fairseq counts on only with the state of the optimizer.
        fresh = begin == self._tuned() or interpolated_option(self.cfg, "reset_optimizer")
        if not fresh and state.get("last_optimizer_state") is not None:
            history = state.get("optimizer_history") or [{}]
            self._updates_before = history[-1].get("num_updates", 0)
        if begin == self._last():
            self._resumed = begin, state.get("cfg") or {}
            if not interpolated_option(self.cfg, "reset_meters"):
                resume_count(state)

    def _check_device(self, model: Any) -> None:
        """Refuses what fairseq can do on another device alone."""
        fp16, tpu, on_cpu, *others = (
            interpolated_option(self.cfg, name)
            for name in ("fp16", "tpu", "cpu", "memory_efficient_fp16", "fp16_no_flatten_grads")
        )
        if tpu and find_spec("torch_xla") is None:
            raise UserError(
                "--bf16 of fairseq-train is for TPUs, and torch_xla is not installed: give "
                "common.bf16=true to fairseq-hydra-train, or --fp16"
            )
        if not on_cpu and torch.cuda.is_available():
            return
        if fp16 and not any(others):
            raise UserError(
                "--fp16 flattens the gradients on a GPU, and there is none: add "
                "--fp16-no-flatten-grads, or leave --fp16 out"
            )
        if (getattr(model, "quant_noise_scalar", 0) or 0) > 0:
            raise UserError(
                "--quant-noise-scalar: fairseq quantises on a GPU, and there is none: leave it out"
            )

    def _warn_of_long_warmup(self, batches: int) -> None:
        limits = (interpolated_option(self.cfg, name) or 0 for name in ("max_epoch", "max_update"))
        update_freq = interpolated_option(self.cfg, "update_freq") or [1]
        warn_of_long_warmup(self._warmup, planned_updates(batches, update_freq[0], *limits))

    def _warn_of_changed_options(self, group: str, built: Any, options: Any) -> None:
        if self._resumed is not None and get_global_rank() == 0:
            path, saved = self._resumed
            warn_of_changed_options(path, built, saved.get(group), options)

    def _last(self) -> Optional[str]:
        """The checkpoint that a training with this `--save-dir` resumes from, if it is there."""
        folder = interpolated_option(self.cfg, "save_dir")
        if folder is None:
            return None
        suffix = interpolated_option(self.cfg, "checkpoint_suffix")
        last = Path(folder) / _with_suffix(_LAST, suffix)
        return str(last) if last.is_file() else None

    def _beginning(self) -> Optional[str]:
        """The checkpoint that fairseq will load, made whole; None = training begins anew."""
        restore, folder, suffix = (
            interpolated_option(self.cfg, name)
            for name in ("restore_file", "save_dir", "checkpoint_suffix")
        )
        if restore is None or folder is None:
            return None
        if restore != _LAST:
            begin = _with_suffix(restore, suffix)
            # A file for each worker, whose number fairseq adds later, may stand in its place.
            if not any(map(PathManager.isfile, (begin, _with_suffix(begin, "-shard0")))):
                if Path(restore).name == _LAST:  # as scripts name it before there is one
                    return None
                raise UserError(
                    f"--restore-file {restore}: no such file; leave the option out to resume from "
                    f"{_LAST} of --save-dir"
                )
            return begin
        last = self._last()
        if last is not None:
            finish_interrupted_copy(Path(last))
            return last
        once = interpolated_option(self.cfg, "continue_once")
        if once is not None:
            return once
        tuned = self._tuned()
        if tuned is not None and not PathManager.isfile(tuned):
            raise UserError(f"--finetune-from-model {tuned}: no such file; give a checkpoint")
        return tuned

    def _tuned(self) -> Optional[str]:
        """`--finetune-from-model`, perhaps an address that only fairseq's path manager knows."""
        return interpolated_option(self.cfg, "finetune_from_model")


def _check_kept_layers(model: Any) -> None:
    """Refuses to train a part of the layers, which fairseq can only translate with."""
    for name in ("encoder_layers_to_keep", "decoder_layers_to_keep"):
        if getattr(model, name, None):
            raise UserError(
                f"{flag(name)} leaves layers of a trained model out: give it to fairseq-generate, "
                f"in --model-overrides; fewer layers train with {flag(name[:7])}-layers"
            )


def _with_suffix(name: str, suffix: Optional[str]) -> str:
    """The file of this worker, as fairseq names it."""
    return name.replace(".pt", f"{suffix or ''}.pt")
