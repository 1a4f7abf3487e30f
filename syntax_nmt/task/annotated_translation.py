"""fairseq's translation task on annotated text: annotation beside the sentences.

fairseq reads the types of the options at run time: no postponed annotations in this file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, Optional

from fairseq import utils
from fairseq.data import ConcatDataset, Dictionary, FairseqDataset
from fairseq.data.iterators import EpochBatchIterator

from syntax_nmt.arguments import option
from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.annotation.kind import SOURCE, TARGET, AnnotationKind
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation, open_annotation, read_labels
from syntax_nmt.data.data_bin import load_dictionary
from syntax_nmt.data.split_texts import check_texts, split_prefixes
from syntax_nmt.data.syntax_dataset import SyntaxDataset
from syntax_nmt.errors import UserError, exits_in_fairseq_programs
from syntax_nmt.task.restartable_translation import (
    RestartableTranslationConfig,
    RestartableTranslationTask,
)

# An option a kind: load_dependencies, load_phrases, load_chunks.
_LoadingConfig: Any = make_dataclass(
    "LoadingConfig",
    [(kind.option, bool, option(False, kind.help)) for kind in KINDS],
    bases=(RestartableTranslationConfig,),
)


@dataclass
class AnnotatedTranslationConfig(_LoadingConfig):
    """fairseq's options of the translation task and which annotation to load."""


class AnnotatedTranslationTask(RestartableTranslationTask):
    """Loads sentences with their annotation, both checked before they are used.

    No sentence of a split that is not trained on is dropped: there
    `--required-batch-size-multiple`, which silently leaves out a last batch, counts as 1.

    Args:
        src_dict: the source vocabulary.
        tgt_dict: the target vocabulary.
    """

    cfg: AnnotatedTranslationConfig

    def __init__(
        self, cfg: AnnotatedTranslationConfig, src_dict: Dictionary, tgt_dict: Dictionary
    ) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._trained_split: Optional[str] = None
        self._loaded = [kind for kind in KINDS if getattr(cfg, kind.option)]
        self._labels: dict[
            AnnotationKind, tuple[str, ...]
        ] = {}  # of the annotation files that are loaded

    @classmethod
    def load_dictionary(cls, filename: str) -> Dictionary:
        """Reads a vocabulary.

        Raises:
            UserError: it is damaged.
        """
        return load_dictionary(filename)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any
    ) -> None:
        """Loads a split and the annotation that the options ask for.

        Args:
            split: train, valid, test, …
            epoch: chooses among several data folders.
            combine: whether fairseq may concatenate shards: it does so for the split it trains on.
            **kwargs: as of fairseq's own task.

        Raises:
            UserError: the split or its annotation files are missing, damaged or of another text, or
                an option cannot be honoured together with them; one line says which.
        """
        with exits_in_fairseq_programs():
            if self._loaded:
                self._refuse_what_moves_tokens()
            prefixes = self._check_texts(split, epoch, combine)
            try:
                super().load_dataset(split, epoch, combine, **kwargs)
            except FileNotFoundError as error:
                raise UserError(f"{error}: the data folder has no such split") from None
            if combine:
                self._trained_split = split
            if self._loaded:
                self.datasets[split] = self._with_annotation(prefixes, split)

    def get_batch_iterator(self, dataset: FairseqDataset, **kwargs: Any) -> EpochBatchIterator:
        """Divides a dataset into batches; outside training every sentence is in one.

        Args:
            **kwargs: as of fairseq's own task.
        """
        if dataset is not self.datasets.get(self._trained_split):
            kwargs["required_batch_size_multiple"] = 1
        return super().get_batch_iterator(dataset, **kwargs)

    def labels(self, kind: AnnotationKind) -> tuple[str, ...]:
        """The labels of the data folder, such as chunk types, by id from 1; () = it has none."""
        folder = Path(utils.split_paths(self.cfg.data)[0])
        there = kind.labels_file is not None and (folder / kind.labels_file).is_file()
        return read_labels(folder, kind) if there else ()

    def _with_annotation(self, prefixes: Sequence[Path], split: str) -> SyntaxDataset:
        """The split's sentence pairs with their annotation files, opened and checked."""
        if not prefixes:
            raise UserError(
                f"{split} is not binarised, and side information belongs to binarised text: run "
                f"fairseq-preprocess without --dataset-impl raw, then `syntax-nmt binarize`"
            )
        pairs = self.datasets[split]
        source, target = self.cfg.source_lang, self.cfg.target_lang
        texts = {SOURCE: (source, pairs.src), TARGET: (target, pairs.tgt)}
        opened = [
            self._open_shards(prefixes, kind, *texts[kind.side])
            for kind in self._loaded
            if texts[kind.side][1] is not None  # a test set may have no target
        ]
        self._labels.update({each.kind: each.labels for each in opened if each.kind.labels_file})
        return SyntaxDataset(pairs, opened)

    def _open_shards(
        self, prefixes: Sequence[Path], kind: AnnotationKind, language: str, text: Any
    ) -> BinarisedAnnotation:
        """Annotation of `train`, `train1`, …, joined and repeated as fairseq joined them."""
        joined = isinstance(text, ConcatDataset)
        shards = text.datasets if joined else [text]
        parts = [
            open_annotation(f"{prefix}.{language}", kind, shard.sizes)
            for prefix, shard in zip(prefixes, shards)
        ]
        return BinarisedAnnotation.concatenate(parts, text.sample_ratios) if joined else parts[0]

    def _check_texts(self, split: str, epoch: int, combine: bool) -> list[Path]:
        """Checks a split's texts before fairseq maps them; gives their names without language."""
        source, target = self.cfg.source_lang, self.cfg.target_lang
        folder = self._data_folder(split, epoch)
        prefixes = split_prefixes(folder, split, source, target, combine)
        for prefix in prefixes:
            check_texts(prefix, {source: self.src_dict, target: self.tgt_dict})
        return prefixes

    def _data_folder(self, split: str, epoch: int) -> Path:
        """The folder that fairseq's own task reads a split from in an epoch."""
        paths = utils.split_paths(self.cfg.data)
        if split != self.cfg.train_subset:
            paths = paths[:1]
        return Path(paths[(epoch - 1) % len(paths)])

    def _refuse_what_moves_tokens(self) -> None:
        """Refuses what shifts tokens: annotation counts them from the sentence's start.

        Raises:
            UserError: names the option.
        """
        refused = {
            "--truncate-source": self.cfg.truncate_source,
            "--num-batch-buckets": self.cfg.num_batch_buckets > 0,
        }
        for name, used in refused.items():
            if used:
                raise UserError(
                    f"{name} cannot be combined with side information "
                    f"({', '.join(kind.flag for kind in KINDS)}): leave one of them out"
                )
