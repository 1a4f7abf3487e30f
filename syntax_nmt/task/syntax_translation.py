"""`--task syntax_translation`: fairseq's translation task plus annotation.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
from fairseq import utils
from fairseq.criterions import FairseqCriterion
from fairseq.data import Dictionary, FairseqDataset
from fairseq.data.iterators import EpochBatchIterator
from fairseq.models import BaseFairseqModel
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationTask
from torch import Tensor, nn

from syntax_nmt.arguments import Parser
from syntax_nmt.backbone.fused_attention import FusedMultiheadAttention
from syntax_nmt.backbone.masked_batch_norm import ignored_batch
from syntax_nmt.checkpoints.task_checkpoints import (
    VOCABULARIES,
    check_models,
    interpolated_option,
    vocabulary_checksums,
)
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.batch import Batch, Logged
from syntax_nmt.data.data_bin import load_dictionary
from syntax_nmt.data.text_fit import TextFit
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.methods import VALIDATIONS
from syntax_nmt.models.model_building import keep_defaults
from syntax_nmt.task.annotated_splits import AnnotatedSplits, check_languages
from syntax_nmt.task.annotation_inputs import AnnotationInputs, annotation_read_by
from syntax_nmt.task.batches import batch_iterator, within_limits
from syntax_nmt.task.early_options import check_while_parsing
from syntax_nmt.task.misspelled_names import refuse_misspelled_overrides
from syntax_nmt.task.options import SyntaxTranslationConfig
from syntax_nmt.task.raw_text_hooks import RawTextHooks
from syntax_nmt.task.resuming import STATE, Resuming, counted_validations
from syntax_nmt.task.search import SearchHooks
from syntax_nmt.task.source_parser import SourceParser
from syntax_nmt.task.training_checks import (
    check_output_layer,
    check_start,
    warn_of_long_warmup,
    warn_of_loss_options,
    warn_of_untrained_parts,
)
from syntax_nmt.task.typed_input import TypedInput

logger = logging.getLogger(__name__)


@register_task("syntax_translation", dataclass=SyntaxTranslationConfig)
class SyntaxTranslationTask(RawTextHooks, SearchHooks, TranslationTask):
    """Translation with annotation of the source, the target, or both.

    This class has the hooks that fairseq calls; the parts of the task do the work. It differs from
    fairseq's own task even without annotation: killed trainings resume exactly, no sentence is
    lost, and mistakes in data, checkpoints and options are reported in one line. Outside training
    every sentence is in a batch: `--required-batch-size-multiple`, which silently drops a last
    batch, counts as 1 there.

    Args:
        src_dict: the source vocabulary.
        tgt_dict: the target vocabulary.

    Attributes:
        splits: the texts of the data folder and their annotation.
        inputs: gives models the annotation that they declare.
        parser: supplies source annotation that the batch lacks, if there is one.
        fit: checks whether text looks like that of the data folder.
        typed: text typed into `fairseq-interactive` and the Python interface.
        resuming: the state that a training resumes from.
        gives_factors: whether hypotheses have the factors of their words.
    """

    cfg: SyntaxTranslationConfig
    hands_over_annotation = True  # which the models of this package rely on

    def __init__(
        self, cfg: SyntaxTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self.splits = AnnotatedSplits(cfg, (src_dict, tgt_dict))
        folder = Path(utils.split_paths(cfg.data or "")[0])
        self.fit = TextFit(folder, (cfg.source_lang, cfg.target_lang), (src_dict, tgt_dict))
        file = cfg.parser_config
        self.use_parser(None if file is None else SourceParser.read(file, self))
        self.resuming = Resuming(cfg)
        self._model_files: list[str] = []  # that fairseq will load, in this order
        self._model: Any = None  # that was built last
        self._trained_options: Any = None  # of the model of a training, if there is one

    def use_parser(self, parser: Optional[SourceParser]) -> None:
        """Takes source annotation that a batch lacks from a parser.

        Args:
            parser: None = there is none.
        """
        self.parser = parser
        parse = None if parser is None else parser.parse
        self.inputs = AnnotationInputs(self.splits.kinds, self.splits.labels, parse)
        self.typed = TypedInput(parser is not None, self.fit)

    @classmethod
    def add_args(cls, parser: Parser) -> None:
        """Adds the options of the task, and checks of some other options.

        Args:
            parser: of a program of fairseq.
        """
        super().add_args(parser)
        check_while_parsing(parser)

    @classmethod
    def setup_task(cls, cfg: SyntaxTranslationConfig, **kwargs: Any) -> "SyntaxTranslationTask":
        """Builds the task and loads its dictionaries.

        Args:
            **kwargs: as of fairseq's own task.

        Raises:
            UserError: no such folder or language, and one line lists those that exist; or a
                dictionary, a model of `--path` or the configuration of the parsers has a mistake.
        """
        with exits_in_fairseq_programs():
            check_languages(cfg)
            if cfg.upsample_primary == -1:  # fairseq's default, with which it cannot join texts
                cfg.upsample_primary = 1
            task = super().setup_task(cfg, **kwargs)
            if kwargs.get("from_checkpoint"):  # the options are those of its training
                task.inputs.expect_nothing()
            else:
                task._model_files = check_models(cfg, (task.src_dict, task.tgt_dict))
            return task

    @classmethod
    def load_dictionary(cls, filename: str) -> Dictionary:
        """Reads a vocabulary.

        Raises:
            UserError: it is damaged.
        """
        return load_dictionary(filename)

    def labels(self, kind: AnnotationKind) -> tuple[str, ...]:
        """The labels of the data folder, such as chunk types, by id from 1; () = it has none."""
        return self.splits.labels_of_folder(kind)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any
    ) -> None:
        """Loads a split and its requested annotation, after checks.

        Args:
            split: train, valid, test, …
            epoch: chooses among several data folders.
            combine: whether fairseq may concatenate shards: it does so for the split it trains on.
            **kwargs: as of fairseq's own task.

        Raises:
            UserError: the split or its annotation files are missing, damaged or of another text, or
                an option is incompatible with them; one line says which.
        """
        with exits_in_fairseq_programs():
            prefixes = self.splits.check(split, epoch, combine)
            try:
                super().load_dataset(split, epoch, combine, **kwargs)
            except FileNotFoundError as error:
                raise UserError(f"{error}: {self.splits.why_missing(split, epoch)}") from None
            self.datasets[split] = self.splits.annotated(self.datasets[split], prefixes, split)

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Divides a dataset into batches, the same ones in every epoch at which a training resumes.

        Args:
            **kwargs: as of fairseq's own task.

        Raises:
            UserError: a sentence has more tokens than a batch may.
        """
        trained = self._trained()
        if dataset is not trained:
            kwargs["required_batch_size_multiple"] = 1
        if self._is_typed(dataset):  # fairseq would keep every buffer of fairseq-interactive
            kwargs["disable_iterator_cache"] = True
        first_kept = self._will_keep_batches(dataset, kwargs)
        limit_of = "--max-tokens" if trained in (None, dataset) else "--max-tokens-valid"
        with exits_in_fairseq_programs():
            if dataset is trained:
                self.inputs.check_loaded(self._model)
            build = super().get_batch_iterator
            iterator = batch_iterator(build, dataset, kwargs, first_kept, limit_of)
        if first_kept and dataset is trained:
            warn_of_long_warmup(self.cfg, self._trained_options, len(iterator))
        return iterator

    def _trained(self) -> Optional[FairseqDataset]:
        """The dataset of a training, if there is one."""
        if self._trained_options is None:
            return None
        return self.datasets.get(interpolated_option(self.cfg, "train_subset"))

    def _will_keep_batches(self, dataset: FairseqDataset, options: dict[str, Any]) -> bool:
        """Whether fairseq will store the batches of a dataset, and has none yet."""
        anew = options.get("disable_iterator_cache") or options.get("update_epoch_batch_itr")
        keeps = self.can_reuse_epoch_itr(dataset) and not anew
        return keeps and dataset not in self.dataset_to_epoch_iter

    def filter_indices_by_size(
        self,
        indices: np.ndarray,
        dataset: FairseqDataset,
        max_positions: Any = None,
        ignore_invalid_inputs: bool = False,
    ) -> np.ndarray:
        """The sentences within the limits of task and models.

        Args:
            indices: numbers of sentences.
            max_positions: the limits in tokens with EOS.
            ignore_invalid_inputs: longer sentences may be skipped, with a warning.

        Raises:
            UserError: they may not; one line names the first.
        """
        before = self.typed.lines.before if self._is_typed(dataset) else None
        with exits_in_fairseq_programs():
            return within_limits(indices, dataset, max_positions, ignore_invalid_inputs, before)

    def _is_typed(self, dataset: FairseqDataset) -> bool:
        """Whether a dataset is not one of the splits."""
        return all(dataset is not split for split in self.datasets.values())

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> BaseFairseqModel:
        """Builds the model; before a training it checks the start of the training and its
        checkpoint.

        Args:
            from_checkpoint: whether its weights will be loaded, without training.

        Raises:
            UserError: the training was started wrongly, its checkpoint is missing, damaged, of
                other data or another method, a YAML or `--model-overrides` has a key that is no
                option of the model, or a parser is missing; one line says so.
        """
        with exits_in_fairseq_programs():
            if from_checkpoint:  # perhaps of a newer version, with options unknown here
                refuse_misspelled_overrides(interpolated_option(self.cfg, "model_overrides"), cfg)
                keep_defaults(cfg)
            else:
                check_start(self.cfg, cfg)
                self._trained_options = cfg
                self.resuming.begin((self.src_dict, self.tgt_dict))
        model = super().build_model(cfg, from_checkpoint)
        for module in model.modules():
            if isinstance(module, FusedMultiheadAttention):
                module.kernels = str(self.cfg.attention_kernels)
        if not from_checkpoint:
            self.resuming.tell(model)
            with exits_in_fairseq_programs():
                self.resuming.check_model(model, cfg)
        elif self._model_files:
            origin = self._model_files.pop(0)
            if hasattr(model, "origin"):
                model.origin = origin
        if self.parser is not None:
            with exits_in_fairseq_programs():
                self.parser.find_models(
                    k for k in annotation_read_by([model]) if k not in self.splits.kinds
                )
        decoder = getattr(model, "decoder", None)
        if self.cfg.load_alignments and decoder is not None:  # a criterion reads its attention
            decoder.need_attn = True
        self._model = model
        return model

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> FairseqCriterion:
        """Builds the criterion; warns of parts of the model that it does not train, and of options
        of its own that have no effect on the model.

        Args:
            from_checkpoint: whether it is that of a checkpoint, not of a training.

        Raises:
            UserError: the model's output layer or its checkpoint needs another criterion.
        """
        criterion = super().build_criterion(cfg, from_checkpoint)
        with exits_in_fairseq_programs():
            self.resuming.check_criterion(criterion, cfg)
            check_output_layer(self._model, criterion)
        self.inputs.trained_by(getattr(cfg, "_name", None) or type(criterion).__name__, criterion)
        warn_of_untrained_parts(self._model, getattr(criterion, "objectives", ()))
        warn_of_loss_options(self._model, criterion)
        return criterion

    def begin_epoch(self, epoch: int, model: Any) -> None:
        """Runs before the batches of an epoch, and before a thread prepares them.

        Raises:
            SystemExit: with status 0: the training has ended, which fairseq does not check before
                the first update.
        """
        end = self.resuming.end()
        if end is not None:
            logger.info(f"nothing to do: {end}; a new training needs a --save-dir of its own")
            raise SystemExit(0)
        super().begin_epoch(epoch, model)

    def state_dict(self) -> dict[str, Any]:
        """The state of the task in a checkpoint."""
        vocabularies = vocabulary_checksums((self.src_dict, self.tgt_dict))
        own = {STATE: counted_validations(), VOCABULARIES: vocabularies}
        return {**super().state_dict(), **own}

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int,
        ignore_grad: bool = False,
    ) -> Any:  # fmt: skip
        """Forward and backward pass of one batch.

        Args:
            update_num: updates so far.
            ignore_grad: the batch only replaces one that this worker does not have; batch norms
                ignore it, too.
        """
        with exits_in_fairseq_programs():
            sample = self.inputs.for_forward([model], sample)
        with ignored_batch(model, ignore_grad):
            return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def valid_step(
        self, sample: Batch, model: nn.Module, criterion: FairseqCriterion
    ) -> tuple[Tensor, Any, Logged]:
        """Computes the loss of one batch, and with `--eval-bleu` its translations.

        A model that chooses structures itself does so here, too, and is compared with annotation.
        """
        with exits_in_fairseq_programs():
            sample = self.inputs.for_forward([model], sample)
        ways = [each for each in VALIDATIONS if each.applies(sample)]
        own = sample
        for each in ways:
            own = each.as_in_search(own)
        loss, size, logs = super().valid_step(own, model, criterion)
        with torch.no_grad():  # fairseq-validate computes gradients unless told otherwise
            for each in ways:
                logs.update(each.under_annotation(sample, model, criterion))
        return loss, size, logs

    def reduce_metrics(
        self, logging_outputs: Sequence[Logged], criterion: FairseqCriterion
    ) -> None:
        """Logs the figures of all workers.

        Args:
            logging_outputs: one for each worker and batch.
        """
        super().reduce_metrics(logging_outputs, criterion)
        for each in VALIDATIONS:
            each.log(lambda key: float(sum(log.get(key, 0) for log in logging_outputs)))
