"""fairseq's translation task, whose trainings may be killed and started again.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from fairseq.data import FairseqDataset
from fairseq.data.iterators import EpochBatchIterator
from fairseq.file_io import PathManager
from fairseq.models import BaseFairseqModel
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import II

from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.tasks.checked_checkpoints import check_weights
from syntax_nmt.tasks.foreign_options import foreign_option
from syntax_nmt.tasks.interrupted_checkpoint import finish_interrupted_copy

logger = logging.getLogger(__name__)

_LAST = "checkpoint_last.pt"  # fairseq's default of --restore-file, looked for in --save-dir


@dataclass
class RestartableTranslationConfig(TranslationConfig):
    """fairseq's options of the translation task, and those of the training that a restart needs.

    The latter are none of the task's own: each takes the value of the option it names.
    """

    save_dir: str = II("checkpoint.save_dir")
    restore_file: str = II("checkpoint.restore_file")
    continue_once: Optional[str] = II("checkpoint.continue_once")
    finetune_from_model: Optional[str] = II("checkpoint.finetune_from_model")
    checkpoint_suffix: str = II("checkpoint.checkpoint_suffix")
    max_update: int = II("optimization.max_update")


class RestartableTranslationTask(TranslationTask):
    """A killed training that is started again ends as if it had not been killed.

    fairseq alone differs in three ways: from the second epoch on its batches depend on the epoch
    that the process began with; `checkpoint_last.pt` can be left half written; and a training that
    had reached `--max-update` makes one update more.
    """

    cfg: RestartableTranslationConfig

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Cuts a dataset into batches, into the same whatever epoch a training goes on with.

        fairseq draws the order of equally long sentences by the epoch in which it first cuts the
        batches, and keeps these batches ever after: they are to be those of the first epoch.

        Args:
            dataset: the dataset.
            **kwargs: as of fairseq's own task.
        """
        kept = self.can_reuse_epoch_itr(dataset) and not (
            kwargs.get("disable_iterator_cache") or kwargs.get("update_epoch_batch_itr")
        )
        if not kept or dataset in self.dataset_to_epoch_iter:
            return super().get_batch_iterator(dataset, **kwargs)
        iterator = super().get_batch_iterator(dataset, **{**kwargs, "epoch": 1})
        iterator.epoch = max(kwargs.get("epoch", 1), 1)
        dataset.set_epoch(iterator.epoch)
        return iterator

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> BaseFairseqModel:
        """Builds the model; before a training it looks after the checkpoint to go on from.

        Args:
            cfg: its options.
            from_checkpoint: whether its weights will be loaded: the model is not to be trained.

        Raises:
            UserError: that checkpoint is missing, damaged or of other data; one line says what to
                do.
        """
        if from_checkpoint:
            return super().build_model(cfg, from_checkpoint)
        with exits_in_fairseq_programs():
            begin = self._beginning()
            if begin is not None:
                check_weights(begin, (self.src_dict, self.tgt_dict))
        model = super().build_model(cfg, from_checkpoint)
        if begin is not None:
            model.origin = begin
            model.begins_with_weights_of_another = begin == self._tuned()
        return model

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int,
        ignore_grad: bool = False,
    ) -> Any:  # fmt: skip
        """Forward and backward pass of one batch.

        Args:
            sample: the batch.
            model: the model.
            criterion: its loss.
            optimizer: of the trainer.
            update_num: updates so far.
            ignore_grad: the batch only stands in for one that this worker does not have.

        Raises:
            SystemExit: with status 0: there have been as many updates as are wanted, which fairseq
                does not ask before the first one.
        """
        wanted = foreign_option(self.cfg, "max_update") or 0
        if 0 < wanted <= update_num:
            logger.info(
                f"nothing to do: {update_num} updates have been made, --max-update "
                f"{wanted} are wanted"
            )
            raise SystemExit(0)
        return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def _beginning(self) -> Optional[str]:
        """The checkpoint that fairseq will load, made whole; None = training begins anew."""
        restore, folder, suffix = (
            foreign_option(self.cfg, name)
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
                    f"--restore-file {restore}: no such file; leave the option out to go on from "
                    f"{_LAST} of --save-dir"
                )
            return begin
        last = Path(folder) / _with_suffix(_LAST, suffix)
        if last.is_file():
            finish_interrupted_copy(last)
            return str(last)
        once = foreign_option(self.cfg, "continue_once")
        if once is not None:
            return once
        tuned = self._tuned()
        if tuned is not None and not PathManager.isfile(tuned):
            raise UserError(f"--finetune-from-model {tuned}: no such file; give a checkpoint")
        return tuned

    def _tuned(self) -> Optional[str]:
        """`--finetune-from-model`, perhaps an address that only fairseq's path manager knows."""
        return foreign_option(self.cfg, "finetune_from_model")


def _with_suffix(name: str, suffix: Optional[str]) -> str:
    """The file of this worker, as fairseq names it."""
    return name.replace(".pt", f"{suffix or ''}.pt")
