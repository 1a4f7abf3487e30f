"""Training commands for each method whose annotation a data folder has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from syntax_nmt.data.annotation import KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.columns import loading_options
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin import no_data_bin
from syntax_nmt.data.data_bin_names import check_name, language_pairs
from syntax_nmt.data.linearised_folder import PARSED_SOURCE, linearised_mode
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.prepared_text import FILE_NAME as SEGMENTATION
from syntax_nmt.data.prepared_text import (
    RECORD,
    TextSegmentation,
    prepared_folder,
    read_segmentation,
)
from syntax_nmt.data.ragged import open_indexed
from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError
from syntax_nmt.methods.method import RNN, TRANSFORMER, TrainingLine
from syntax_nmt.models.presets import LINES
from syntax_nmt.parsing.config import FILE_NAME as PARSER_CONFIG
from syntax_nmt.preparation.steps import recorded_steps
from syntax_nmt.preparation.training_settings import TrainingSettings, training_settings
from syntax_nmt.text.languages import TARGET

_LINE = 100


@dataclass(frozen=True)
class TrainingData:
    """The properties of a data-bin folder that training commands depend on.

    Attributes:
        folder: that `syntax-nmt prepare` made, or the data-bin folder's own.
        data_bin: the folder that fairseq reads.
        languages: source and target.
        pairs: of the training text.
        tokens: of a sentence of it, the mean of both sides, with EOS.
        splits: that are there, in fairseq's order.
        annotated: by split the kinds of annotation of which some sentence has one.
        parsed: the kinds that a parser made, which parses typed text likewise.
        joined: whether both languages have one vocabulary.
        segmentation: how text is segmented, by language; empty = not known.
    """

    folder: Path
    data_bin: Path
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
            data: that `syntax-nmt prepare` made, or a data-bin folder.

        Raises:
            UserError: it has no training text, or a language that is no plain name.
        """
        folder, data_bin = prepared_folder(data)
        pairs = language_pairs(data_bin)
        if not pairs:
            raise no_data_bin(data_bin, "train.SOURCE-TARGET.SOURCE.idx")
        source, target = pairs[0]
        for language in (source, target):
            check_name(language, f"{data_bin}: language")
        pair = f"{source}-{target}"
        splits = _splits(data_bin, pair, source)
        if "train" not in splits:
            raise UserError(f"{data_bin}: has no training text: give the folder of one")
        try:
            sides = [
                open_indexed(data_bin / f"train.{pair}.{lang}").sizes for lang in (source, target)
            ]
        except (OSError, ValueError) as error:
            raise UserError(f"{error}: run fairseq-preprocess again") from error
        tokens = float(sum(sizes.sum() for sizes in sides)) / max(1, 2 * len(sides[0]))
        manifest = read_manifest(data_bin)
        names = {kind: target if kind.side == TARGET else source for kind in KINDS}
        annotated = {
            split: [
                kind
                for kind, lang in names.items()
                if (found := manifest.get(f"{split}.{pair}.{lang}.{kind.name}")) is not None
                and found.annotated
            ]
            for split in splits
        }
        dictionaries = {checksum(data_bin / f"dict.{lang}.txt") for lang in (source, target)}
        segmentation = read_segmentation(folder) if (folder / SEGMENTATION).is_file() else {}
        parsed = _parsed(folder, source) if (folder / PARSER_CONFIG).is_file() else []
        return cls(
            folder, data_bin, (source, target), len(sides[0]), tokens, splits, annotated, parsed,
            len(dictionaries) == 1, segmentation,
        )  # fmt: skip

    def is_parsed(self, kind: AnnotationKind) -> bool:
        """Whether a parser made it, which parses typed text likewise."""
        return (kind.text_kind or kind) in self.parsed

    @property
    def validated(self) -> bool:
        """Whether there is validation text."""
        return "valid" in self.splits

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
        return [*options, "--bpe", "sentencepiece", "--sentencepiece-model", _argument(model)]


def _splits(data_bin: Path, pair: str, source: str) -> list[str]:
    """Those that are there: train, valid, valid1, …, test, …"""
    found = []
    for kind in ("train", "valid", "test"):
        names = [path.name.split(".")[0] for path in data_bin.glob(f"{kind}*.{pair}.{source}.idx")]
        ends = (name.removeprefix(kind) for name in names)  # perhaps of another one: `train-old`
        numbers = sorted(int(end or 0) for end in ends if re.fullmatch("[0-9]*", end))
        found += [f"{kind}{number or ''}" for number in numbers]
    return found


def _parsed(folder: Path, source: str) -> list[AnnotationKind]:
    """What `syntax-nmt prepare` has on record as made by a parser."""
    steps = recorded_steps(folder / RECORD) or {}
    names = {kind: f".{source}.{kind.ending}" for kind in TEXT_KINDS if kind.parsed_by is not None}
    made = [name for name, step in steps.items() if "annotated" in step.get("report", {})]
    return [kind for kind, ending in names.items() if any(name.endswith(ending) for name in made)]


def _lines(data: TrainingData) -> list[TrainingLine]:
    """The ways to train whose annotation exists, the baselines first."""
    kinds = set(data.annotated["train"])
    return [line for line in LINES if line.is_printed and kinds.issuperset(line.needs)]


def next_commands(data: TrainingData, user_dir: Path) -> str:
    """Command lines that train on a folder, and translate with what they trained.

    Args:
        user_dir: the plugin's folder.
    """
    methods = _lines(data)
    blocks = [_expectation(data)]
    for method in methods:
        blocks.append(f"{method.title}:\n{_train(data, method, str(user_dir))}")
        if method.reads:
            blocks.append(f"  and translate with it by\n{_translate(data, method, str(user_dir))}")
    # Trained on annotation, and translating without: what a newcomer tries first.
    shown = (line for line in methods if line.needs and not line.reads)
    main = next((line for line in shown if line.family == TRANSFORMER), methods[0])
    blocks.append(
        f"then translate with {main.title} (likewise others without such a line) by\n"
        f"{_translate(data, main, str(user_dir))}"
    )
    return "\n".join(blocks)


def _expectation(data: TrainingData) -> str:
    """The device of training commands and the estimated time."""
    settings = _settings(data)
    if settings.gpu:
        return "train on the GPU"
    if not settings.minutes:
        return "train (there is no GPU here, and a CPU needs days for so much text)"
    minutes = max(1, round(settings.minutes))
    time = f"train (about {minutes:,} minute{'s' if minutes > 1 else ''} on one core)"
    if settings.size.suffix != "_tiny":
        return time
    return f"{time}; more threads make so small a model slower:\n  export OMP_NUM_THREADS=1"


def _settings(data: TrainingData) -> TrainingSettings:
    return training_settings(data.pairs, torch.cuda.is_available(), data.tokens)


def _shared(data: TrainingData, user_dir: str) -> list[str]:
    """What all programs are given."""
    return [
        *["--user-dir", user_dir, "--task", "syntax_translation"],
        *["--source-lang", data.languages[0], "--target-lang", data.languages[1]],
    ]


def _train(data: TrainingData, method: TrainingLine, user_dir: str) -> str:
    settings = _settings(data)
    size = settings.size
    suffix, sizes = (
        (size.rnn_suffix, size.rnn_options) if method.family == RNN else (size.suffix, size.options)
    )
    return wrapped(
        [
            *["fairseq-train", _argument(data.data_bin), *_shared(data, user_dir)],
            *["--arch", method.arch + suffix, *method.training_options],
            *(["--share-all-embeddings"] if data.joined and method.shares_embeddings else []),
            *["--criterion", method.criterion, "--label-smoothing", "0.1", *sizes],
            *settings.options(method.warmups, data.validated),
            # fairseq refuses a validation set that it does not read.
            *(["--combine-valid-subsets"] if "valid1" in data.splits else []),
            *["--save-dir", _argument(data.folder / method.save_dir)],
        ]
    )


def _translate(data: TrainingData, method: TrainingLine, user_dir: str) -> str:
    """Typed text where it can be segmented, and parsed if need be; otherwise the last split."""
    # Validation selects the best checkpoint; without it use the last.
    name = "checkpoint_best.pt" if data.validated else "checkpoint_last.pt"
    path = ["--path", _argument(data.folder / method.save_dir / name), *data.text_options]
    shared = [_argument(data.data_bin), *_shared(data, user_dir)]
    if data.takes_typed_text and all(map(data.is_parsed, method.reads)):
        parser = ["--parser-config", _argument(data.folder / PARSER_CONFIG)] if method.reads else []
        return wrapped(["fairseq-interactive", *shared, *parser, *path])
    # No parser is known if the annotation was given.
    split = [name for name in data.splits if set(method.reads) <= set(data.annotated[name])][-1]
    annotation = loading_options(method.reads)
    return wrapped(["fairseq-generate", *shared, "--gen-subset", split, *annotation, *path])


def _argument(path: Path | None) -> str:
    """A path on a command line: no option, even if its name begins with a hyphen."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def wrapped(words: Sequence[str]) -> str:
    """A command for the shell, indented, in lines of at most 100 characters that end in a \\.

    An option stands on the line of its values.

    Args:
        words: the program and its arguments.
    """
    groups: list[str] = []
    for word in map(shlex.quote, words):
        if word.startswith("--") or not groups:
            groups.append(word)
        else:
            groups[-1] += f" {word}"
    lines = [f"  {groups[0]}"]
    for group in groups[1:]:
        if len(lines[-1]) + len(group) < _LINE - 2:
            lines[-1] += f" {group}"
        else:
            lines.append(f"    {group}")
    return " \\\n".join(lines)
