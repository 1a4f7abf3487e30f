"""What a data-bin folder has that trainings depend on."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from syntax_nmt.data.annotation import KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin import no_data_bin
from syntax_nmt.data.data_bin_names import check_name, language_pairs
from syntax_nmt.data.folders_of_training import check_same_dictionaries, check_same_labels
from syntax_nmt.data.linearised_folder import PARSED_SOURCE, linearised_mode
from syntax_nmt.data.manifest import AnnotationFile, read_manifest
from syntax_nmt.data.prepared_text import FILE_NAME as SEGMENTATION
from syntax_nmt.data.prepared_text import (
    RECORD,
    SHARD,
    TextSegmentation,
    prepared_folder,
    read_segmentation,
    shard_folders,
    training_folders,
)
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.config import FILE_NAME as PARSER_CONFIG
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.preparation.shards import recorded_shards
from syntax_nmt.preparation.steps import ANNOTATED, PROGRAM, recorded_steps
from syntax_nmt.text.languages import TARGET


@dataclass(frozen=True)
class TrainingData:
    """The properties of a data-bin folder that training commands depend on.

    Attributes:
        folder: that `syntax-nmt prepare` made, or the data-bin folder's own.
        data_bins: the folders that fairseq reads training text from, an epoch each; all other text
            is in the first.
        languages: source and target.
        pairs: of the training text.
        tokens: of a sentence of it, the mean of both sides, with EOS.
        splits: that are there, in fairseq's order.
        annotated: by split the kinds of annotation of which some sentence has one; of training
            text, in every folder.
        parsed: the kinds that a parser makes of typed text: those that `parser.json` names, or
            `prepare` has on record.
        joined: whether both languages have one vocabulary.
        segmentation: how text is segmented, by language; empty = not known.
    """

    folder: Path
    data_bins: Sequence[Path]
    languages: tuple[str, str]
    pairs: int
    tokens: float
    splits: Sequence[str]
    annotated: Mapping[str, Sequence[AnnotationKind]]
    parsed: Sequence[AnnotationKind]
    joined: bool
    segmentation: Mapping[str, TextSegmentation]

    @classmethod
    def of(cls, data: Path) -> TrainingData:
        """Reads a folder.

        Args:
            data: that `syntax-nmt prepare` made, or a data-bin folder, or several with `:` between
                them.

        Raises:
            UserError: it has no training text, lacks shards, or a language is no plain name; or
                several folders have other dictionaries or labels.
        """
        _refuse_missing_shards(data)
        folder, data_bin = prepared_folder(data)
        data_bins = [prepared_folder(each)[1] for each in training_folders(data)]
        pairs = language_pairs(data_bin)
        if not pairs:
            raise no_data_bin(data_bin, "train.SOURCE-TARGET.SOURCE.idx")
        source, target = pairs[0]
        for language in (source, target):
            check_name(language, f"{data_bin}: language")
        check_same_dictionaries(data_bins, pairs[0])
        check_same_labels(data_bins, KINDS)
        pair = f"{source}-{target}"
        splits = _splits(data_bin, pair, source)
        sides = [_train_sizes(each, pair, lang) for each in data_bins for lang in pairs[0]]
        sentences = sum(map(len, sides)) // 2
        tokens = float(sum(int(sizes.sum()) for sizes in sides)) / max(1, 2 * sentences)
        names = {kind: target if kind.side == TARGET else source for kind in KINDS}
        manifests = [read_manifest(each) for each in data_bins]

        def is_annotated(manifest: Mapping[str, AnnotationFile], name: str) -> bool:
            return name in manifest and manifest[name].annotated > 0

        annotated = {
            split: [
                kind
                for kind, lang in names.items()
                if all(
                    is_annotated(manifest, f"{split}.{pair}.{lang}.{kind.name}")
                    for manifest in (manifests if split == "train" else manifests[:1])
                )
            ]
            for split in splits
        }
        dictionaries = {checksum(data_bin / f"dict.{lang}.txt") for lang in (source, target)}
        segmentation = read_segmentation(folder) if (folder / SEGMENTATION).is_file() else {}
        parsed = _parsed(folder, source) if (folder / PARSER_CONFIG).is_file() else []
        top = data if shard_folders(data) else folder
        return cls(
            top, data_bins, (source, target), sentences, tokens, splits, annotated, parsed,
            len(dictionaries) == 1, segmentation,
        )  # fmt: skip

    @property
    def data_bin(self) -> Path:
        """The first folder that fairseq reads."""
        return self.data_bins[0]

    @property
    def all_data_bins(self) -> Path:
        """All that fairseq reads, as it takes them."""
        return Path(os.pathsep.join(map(str, self.data_bins)))

    @property
    def parser_config(self) -> Path:
        """How typed text is parsed."""
        return prepared_folder(self.data_bin)[0] / PARSER_CONFIG

    def words(self, split: str, language: str) -> Path | None:
        """A text of a split in words; None = the folder is not of `syntax-nmt prepare`.

        Args:
            split: one of `splits`.
            language: one of `languages`.
        """
        path = prepared_folder(self.data_bin)[0] / "words" / f"{split}.{language}"
        return path if path.is_file() else None

    def is_parsed(self, kind: AnnotationKind) -> bool:
        """Whether a parser made it, which parses typed text likewise."""
        return (kind.format, kind.side) in {(each.format, each.side) for each in self.parsed}

    @property
    def validated(self) -> bool:
        """Whether there is validation text."""
        return "valid" in self.splits

    def number_of_pairs(self, split: str) -> int:
        """The number of pairs of a validation or test text; 0 = there is none.

        Raises:
            UserError: it is damaged.
        """
        sizes = _sizes(self.data_bin / f"{split}.{'-'.join(self.languages)}.{self.languages[0]}")
        return 0 if sizes is None else len(sizes)

    @property
    def takes_typed_text(self) -> bool:
        """Whether fairseq-interactive can segment typed text: it knows one way for both sides, and
        does not parse what becomes text.
        """
        if linearised_mode(self.folder) == PARSED_SOURCE:
            return False
        cut = [text.sentencepiece_model is not None for text in self.segmentation.values()]
        return bool(cut) and cut[0] == cut[1]

    @property
    def text_options(self) -> list[str]:
        """How typed text is segmented, and text is made of translations."""
        if not self.segmentation:
            return []
        source, target = (self.segmentation[lang] for lang in self.languages)
        options = ["--tokenizer", "syntax_words"]
        options += source.tokenizer_options("source") + target.tokenizer_options("target")
        if target.sentencepiece_model is None:  # translations are words
            return options
        one_model = source.sentencepiece_model is not None
        model = source.sentencepiece_model if one_model else target.sentencepiece_model
        return [*options, "--bpe", "sentencepiece", "--sentencepiece-model", argument(model)]


def _refuse_missing_shards(folder: Path) -> None:
    """Refuses a corpus that is trained on in part, such as one of `--only-shard`.

    Raises:
        UserError: names the shards that it lacks.
    """
    wanted = [shard for found in recorded_shards(folder / RECORD).values() for shard in found]
    names = [f"{SHARD}{number}" for number in sorted({shard.number for shard in wanted})]
    missing = [name for name in names if not (folder / name / "data-bin").is_dir()]
    if missing:
        raise UserError(
            f"{folder}: lacks {', '.join(missing)} of {len(names)} shards: run the same "
            "`syntax-nmt prepare` line, without --only-shard, which finishes them"
        )


def _train_sizes(data_bin: Path, pair: str, language: str) -> np.ndarray:
    """The length of each sentence of the training text.

    Raises:
        UserError: there is none, or it is damaged.
    """
    sizes = _sizes(data_bin / f"train.{pair}.{language}")
    if sizes is None:
        raise UserError(f"{data_bin}: has no training text: give the folder of one")
    return sizes


def _sizes(text: Path) -> np.ndarray | None:
    """The length of each sentence of a text; None = there is none.

    Raises:
        UserError: it is damaged.
    """
    if not text.with_name(f"{text.name}.idx").is_file():
        return None
    try:
        return open_indexed(text).sizes
    except (OSError, ValueError) as error:
        raise UserError(f"{error}: run fairseq-preprocess again") from error


def _splits(data_bin: Path, pair: str, source: str) -> list[str]:
    """The splits that the folder has: train, valid, valid1, …, test, …"""
    found = []
    for kind in ("train", "valid", "test"):
        names = [path.name.split(".")[0] for path in data_bin.glob(f"{kind}*.{pair}.{source}.idx")]
        ends = (name.removeprefix(kind) for name in names)  # perhaps of another one: `train-old`
        numbers = sorted(int(end or 0) for end in ends if re.fullmatch("[0-9]*", end))
        found += [f"{kind}{number or ''}" for number in numbers]
    return found


def _parsed(folder: Path, source: str) -> list[AnnotationKind]:
    """What the parsers of `parser.json` make, and what `syntax-nmt prepare` has on record as made
    by a parser.
    """
    steps = recorded_steps(folder / RECORD) or {}
    names = {kind: f".{source}.{kind.ending}" for kind in TEXT_KINDS if kind.parsed_by is not None}
    reports = {name: step.get("report", {}) for name, step in steps.items()}
    made = [
        name for name, found in reports.items() if ANNOTATED in found and not found.get(PROGRAM)
    ]
    recorded = {
        kind for kind, ending in names.items() if any(name.endswith(ending) for name in made)
    }
    tasks = _configured_tasks(folder / PARSER_CONFIG)
    return [kind for kind in names if kind in recorded or kind.parsed_by in tasks]


def _configured_tasks(file: Path) -> set[str]:
    """The tasks whose models a parser configuration names, and which are there.

    A file with a mistake names none: what reads it says so.
    """
    found = set()
    with suppress(UserError):
        config = ParserConfig.read(file)
        for task in {kind.parsed_by for kind in TEXT_KINDS if kind.parsed_by is not None}:
            with suppress(UserError):
                config.models(task)
                found.add(task)
    return found


def argument(path: Path | None) -> str:
    """A path on a command line: no option, even if its name begins with a hyphen."""
    return f"./{path}" if str(path).startswith("-") else str(path)
