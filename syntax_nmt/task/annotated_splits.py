"""A data folder: languages and texts, checked before fairseq reads them, and their annotation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import utils
from fairseq.data import ConcatDataset, Dictionary, LanguagePairDataset
from fairseq.tasks.translation import TranslationConfig

from syntax_nmt.arguments import flag
from syntax_nmt.checkpoints.task_checkpoints import interpolated_option
from syntax_nmt.data.annotation import COLUMNS, KINDS, TARGET_COLUMNS
from syntax_nmt.data.annotation.columns import check_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation, open_annotation, read_labels
from syntax_nmt.data.data_bin import check_texts, no_data_bin, split_prefixes
from syntax_nmt.data.data_bin_names import check_folders, check_format, check_name, language_pairs
from syntax_nmt.data.folders_of_training import check_same_dictionaries, check_same_labels
from syntax_nmt.data.syntax_dataset import SyntaxDataset
from syntax_nmt.errors import UserError
from syntax_nmt.text.languages import SOURCE, TARGET


def check_languages(cfg: TranslationConfig) -> None:
    """Looks for the folders and the dictionaries that the options name.

    Languages that are not given are those of the folder's texts.

    Args:
        cfg: the options of the task.

    Raises:
        UserError: one is missing, and the message lists those that exist; a language is no plain
            name, or texts have a format that is not read; or the folders of a divided training set
            (`data1:data2`) have different dictionaries.
    """
    folder, *others = map(Path, utils.split_paths(cfg.data))
    check_format(interpolated_option(cfg, "dataset_impl"), "--dataset-impl")
    check_folders((folder, *others))
    dictionaries = {path.name for path in folder.glob("dict.*.txt")}
    dictionaries -= {kind.labels_file for kind in KINDS}
    languages = sorted(name[len("dict.") : -len(".txt")] for name in dictionaries)
    if not languages:
        raise no_data_bin(folder, "dict.LANGUAGE.txt")
    options = {"--source-lang": cfg.source_lang, "--target-lang": cfg.target_lang}
    for option, language in options.items():
        if language is None:
            continue
        check_name(language, option)
        if language not in languages:
            raise UserError(
                f"{option} {language}: {folder} has no dict.{language}.txt; "
                f"its languages are {', '.join(languages)}: give one of them, or run "
                f"fairseq-preprocess again if the file is lost"
            )
    if None in options.values():
        pairs = language_pairs(folder)
        fitting = [
            (source, target)
            for source, target in [*pairs, *(pair[::-1] for pair in pairs)]
            if cfg.source_lang in (None, source) and cfg.target_lang in (None, target)
        ]
        if not fitting:
            raise UserError(
                f"{folder}: its file names do not tell the languages; give --source-lang and "
                f"--target-lang (there are dictionaries of {', '.join(languages)})"
            )
        for language in fitting[0]:
            check_name(language, f"{folder}: language")
        cfg.source_lang, cfg.target_lang = fitting[0]
    check_same_dictionaries((folder, *others), languages)


class AnnotatedSplits:
    """Opens the annotation that the options load, and compares it with the text.

    Args:
        cfg: the options of the task.
        vocabularies: of source and target.

    Raises:
        UserError: an unknown column, or folders of a divided training set with different labels.

    Attributes:
        kinds: the loaded kinds of annotation.
        labels: of the kinds that have labels, if their files are open.
    """

    def __init__(self, cfg: Any, vocabularies: tuple[Dictionary, Dictionary]) -> None:
        self._cfg = cfg
        self._vocabularies = vocabularies
        for columns in (COLUMNS, TARGET_COLUMNS):
            option = columns[0].option
            check_columns(getattr(cfg, option), flag(option), columns)
        self.kinds = [kind for kind in KINDS if kind.is_loaded(cfg)]
        self.labels: dict[AnnotationKind, tuple[str, ...]] = {}
        check_same_labels([*map(Path, utils.split_paths(cfg.data or ""))], self.kinds)

    def check(self, split: str, epoch: int, combine: bool) -> list[Path]:
        """Checks a split's texts before fairseq maps them; returns their names without language.

        Args:
            split: train, valid, test, …
            epoch: chooses among several data folders.
            combine: whether fairseq joins `train`, `train1`, …

        Raises:
            UserError: a text is damaged, the split is no plain name, or an option moves the tokens
                that annotation counts.
        """
        check_name(split, "split")
        if self.kinds:
            self._refuse_what_moves_tokens()
        source, target = self._cfg.source_lang, self._cfg.target_lang
        folder = self._folder(split, epoch)
        prefixes = split_prefixes(folder, split, source, target, combine)
        for prefix in prefixes:
            check_texts(prefix, dict(zip((source, target), self._vocabularies)))
        return prefixes

    def why_missing(self, split: str, epoch: int) -> str:
        """Why fairseq finds no texts of a split.

        Args:
            split: train, valid, test, …
            epoch: chooses among several data folders.
        """
        folder, source = self._folder(split, epoch), self._cfg.source_lang
        if any(folder.glob(f"{split}.*-*.{source}.idx")):
            return "its texts are binarised: leave --dataset-impl raw out"
        if any(folder.glob(f"{split}.*-*.{source}")):
            return "its texts are not binarised: add --dataset-impl raw"
        return "the data folder has no such split"

    def annotated(
        self, pairs: LanguagePairDataset, prefixes: Sequence[Path], split: str
    ) -> LanguagePairDataset | SyntaxDataset:
        """A split's sentence pairs with their annotation, opened and checked.

        Args:
            prefixes: of :meth:`check`.

        Raises:
            UserError: an annotation file is missing, damaged or of another text.
        """
        if not self.kinds:
            return pairs
        if not prefixes:
            raise UserError(
                f"{split} is not binarised, and annotation belongs to binarised text: run "
                f"fairseq-preprocess without --dataset-impl raw, then `syntax-nmt binarize`"
            )
        source, target = self._cfg.source_lang, self._cfg.target_lang
        texts = {SOURCE: (source, pairs.src), TARGET: (target, pairs.tgt)}
        opened = [
            _open_shards(prefixes, kind, *texts[kind.side], self.kinds)
            for kind in self.kinds
            if texts[kind.side][1] is not None  # a test set may have no target
        ]
        self.labels.update({each.kind: each.labels for each in opened if each.kind.labels_file})
        return SyntaxDataset(pairs, opened)

    def labels_of_folder(self, kind: AnnotationKind) -> tuple[str, ...]:
        """The labels of the data folder, such as chunk types, by id from 1; () = it has none."""
        folder = Path(utils.split_paths(self._cfg.data)[0])
        there = kind.labels_file is not None and (folder / kind.labels_file).is_file()
        return read_labels(folder, kind) if there else ()

    def _folder(self, split: str, epoch: int) -> Path:
        """The folder that fairseq's own task reads a split from in an epoch."""
        paths = utils.split_paths(self._cfg.data)
        if split != self._cfg.train_subset:
            paths = paths[:1]
        return Path(paths[(epoch - 1) % len(paths)])

    def _refuse_what_moves_tokens(self) -> None:
        """Refuses options that shift tokens: annotation counts from the sentence's start."""
        refused = {
            "--truncate-source": self._cfg.truncate_source,
            "--num-batch-buckets": self._cfg.num_batch_buckets > 0,
        }
        loading = dict.fromkeys(flag(kind.option) for kind in KINDS)
        for name, used in refused.items():
            if used:
                raise UserError(
                    f"{name} cannot be combined with annotation ({', '.join(loading)}): "
                    "leave one of them out"
                )


def _open_shards(
    prefixes: Sequence[Path],
    kind: AnnotationKind,
    language: str,
    text: Any,
    loaded: Sequence[AnnotationKind],
) -> BinarisedAnnotation:
    """Annotation of `train`, `train1`, …, joined and repeated as fairseq joined their text."""
    joined = isinstance(text, ConcatDataset)
    shards = text.datasets if joined else [text]
    parts = [
        open_annotation(f"{prefix}.{language}", kind, shard.sizes, loaded=loaded)
        for prefix, shard in zip(prefixes, shards)
    ]
    return BinarisedAnnotation.concatenate(parts, text.sample_ratios) if joined else parts[0]
