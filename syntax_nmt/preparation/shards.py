"""A shard of a corpus: a prepared folder with the vocabulary and the labels of the corpus."""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.data.annotation import KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.file_ranges import FileRange, file_ranges
from syntax_nmt.data.folder_lock import sole_user
from syntax_nmt.data.prepared_text import SHARD
from syntax_nmt.data.text_files import write_binary_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotators.annotate import Resources
from syntax_nmt.preparation.binarised_texts import annotation_files
from syntax_nmt.preparation.corpus_labels import OtherLabelsError, take_labels
from syntax_nmt.preparation.fairseq_data import written_files
from syntax_nmt.preparation.label_lists import LabelCounts, checksums_of_lists
from syntax_nmt.preparation.plan import LABEL_COUNTS, OfCorpus, Plan, refuse_to_overwrite
from syntax_nmt.preparation.preparation import Preparation
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.steps import SHARDS, Report, recorded_steps
from syntax_nmt.preparation.tokenize import loaded_tokenizer

_RAW = "raw"  # the folder of a shard's own part of the raw text


class Shard(NamedTuple):
    """The part of the raw training text that is a shard.

    Attributes:
        number: from 0.
        prefix: of the raw text.
        first: line of that text with which it begins, from 1.
        lines: how many it has.
        files: ranges of text and annotation, by the names that they get in the shard.
    """

    number: int
    prefix: str
    first: int
    lines: int
    files: Mapping[str, FileRange]

    @classmethod
    def recorded(cls, values: Sequence[Any]) -> Shard:
        """A shard as JSON has it."""
        number, prefix, first, lines, files = values
        ranges = {name: FileRange(*each) for name, each in files.items()}
        return cls(number, prefix, first, lines, ranges)


def cut(plan: Plan, size: int, number: int = 0) -> list[Shard]:
    """Cuts the raw training text of a plan into shards of the same size, which no two texts share.

    Args:
        size: the most lines of a shard.
        number: of the first shard.

    Raises:
        UserError: annotation has another number of entries than its text.
    """
    shards: list[Shard] = []
    for split in (split for split in plan.splits if split.is_training):
        lines = -(-split.lines // -(-split.lines // size))  # so that the last is no remainder
        files: dict[str, tuple[Path, AnnotationKind | None]] = {
            f"train.{plan.source}": (split.source, None),
            f"train.{plan.target}": (split.target, None),
        }
        for (name, kind), path in plan.given.items():
            if name == split.name:
                files[f"train.{plan.language(kind)}.{kind.ending}"] = (path, kind)
        ranges = {  # whose paths are on record, for any working directory
            name: file_ranges(Path(os.path.abspath(path)), kind, lines, split.lines)
            for name, (path, kind) in files.items()
        }
        for place, first in enumerate(range(0, split.lines, lines)):
            taken = {name: found[place] for name, found in ranges.items()}
            rest = min(lines, split.lines - first)
            shards.append(Shard(number + len(shards), split.prefix, first + 1, rest, taken))
    return shards


class ShardTask(NamedTuple):
    """What one worker does, text to data-bin.

    Attributes:
        plan: of the shard's folder.
        keeps_parses: of its training text.
    """

    plan: Plan
    shard: Shard
    keeps_parses: bool

    @classmethod
    def of(cls, plan: Plan, shard: Shard, corpus: OfCorpus, keeps_parses: bool) -> ShardTask:
        """Plans a shard.

        Args:
            plan: of the whole corpus.
            corpus: what the shards have in common.
        """
        folder = plan.folder / f"{SHARD}{shard.number}"
        raw = folder / _RAW
        source, target = (raw / f"train.{lang}" for lang in plan.languages)
        train = Split("train", str(raw / "train"), source, target, shard.lines)
        # fairseq reads validation and test text from the first folder.
        others = [split for split in plan.splits if not split.is_training]
        others = [] if shard.number else others
        names = {split.name for split in others}
        given = {of: path for of, path in plan.given.items() if of[0] in names}
        for kind in plan.kinds:
            name = f"train.{plan.language(kind)}.{kind.ending}"
            if name in shard.files:
                given["train", kind] = raw / name
        of_shard = replace(
            plan,
            splits=[train, *others],
            folder=folder,
            given=given,
            resources=Resources(part_size=plan.resources.part_size),
            corpus=corpus,
        )
        return cls(of_shard, shard, keeps_parses)


class ShardReport(NamedTuple):
    """What became of a shard: figures of all steps, findings in lines, and the seconds it took."""

    number: int
    lines: int
    seconds: float
    steps: Mapping[str, Report]
    notes: Sequence[str]


def prepare_shard(task: ShardTask) -> ShardReport:
    """Prepares a shard in this process, unless it is done; resumable like any preparation.

    Raises:
        UserError: as of a preparation; names the lines of the raw text.
    """
    return _carried_out(task, lambda preparation: preparation.run())


def label_shard(task: ShardTask) -> ShardReport:
    """Gives the labels of a prepared shard the ids of the corpus.

    Args:
        task: whose labels are known.
    """
    return _carried_out(task, lambda preparation: preparation.take_labels())


def _carried_out(task: ShardTask, do: Callable[[_ShardPreparation], None]) -> ShardReport:
    notes: list[str] = []
    shard, began = task.shard, time.monotonic()
    try:
        preparation = _ShardPreparation(task, notes.append)
        do(preparation)
    except UserError as error:
        last = shard.first + shard.lines - 1
        raise UserError(
            f"{task.plan.folder.name} (lines {shard.first:,} to {last:,} of {shard.prefix}): "
            f"{error}"
        ) from None
    findings = [note.strip() for note in notes if note.startswith("  ") and not _is_usual(note)]
    done = preparation.steps.reports.get("shard", {})
    seconds = time.monotonic() - began
    return ShardReport(shard.number, shard.lines, seconds, done.get("steps", {}), findings)


def _is_usual(note: str) -> bool:
    """Whether a line only gives the numbers of a binarised file, which the summary adds up."""
    return note.endswith(" segmentation)") and ", 0 without annotation" in note


class _ShardPreparation(Preparation):
    """A preparation whose intermediate files go when it is done."""

    def __init__(self, task: ShardTask, note: Callable[[str], None]) -> None:
        super().__init__(task.plan, note)
        self._task = task

    def _run(self) -> None:
        refuse_to_overwrite(self.plan, ())
        self.steps.run("shard", self._made_from(), self._make, self._files)
        self._tidy()  # not before the step is on record: parses take long
        if self._task.keeps_parses:
            self._note_lost_parses()

    def _note_lost_parses(self) -> None:
        """Says which parses cannot be kept, as an earlier run removed them."""
        for kind in self.plan.annotators:
            packed = self.plan.annotation_text("train", kind)
            packed = packed.with_name(f"{packed.name}.gz")
            if ("train", kind) not in self.plan.given and not packed.is_file():
                self.note(
                    f"  --keep-parses: {packed} is not there, as the shard was made without the "
                    "option: to have it, remove the shard's folder and run this again"
                )

    def _files(self) -> list[Path]:
        counts = self.plan.label_counts
        return [*written_files(self.plan), *([counts] if counts and counts.is_file() else [])]

    def _made_from(self) -> dict[str, Any]:
        """All that decides what is in the folder, except for the ids of labels."""
        plan, sum_of = self.plan, self.steps.checksum
        assert plan.corpus is not None
        others = {
            plan.words(split.name, lang).name: raw
            for split in plan.splits[1:]
            for lang, raw in zip(plan.languages, (split.source, split.target))
        }
        for (split, kind), path in plan.given.items():
            if split != "train":
                others[plan.annotation_text(split, kind).name] = path
        vocabulary = plan.corpus.vocabulary
        common = [vocabulary / "data-bin" / f"dict.{lang}.txt" for lang in plan.languages]
        common += {vocabulary / plan.model(lang).name for lang in plan.cut_languages}
        made = {
            kind.name: find().fingerprint()
            for kind, find in plan.annotators.items()
            if any((split.name, kind) not in plan.given for split in plan.splits)
        }
        return {
            "raw": {name: taken.checksum for name, taken in self._task.shard.files.items()},
            "others": sorted([name, sum_of(path)] for name, path in others.items()),
            "vocabulary": sorted(map(sum_of, common)),
            "tokenizers": [
                loaded_tokenizer(plan.tokenizers[lang]).fingerprint() for lang in plan.languages
            ],
            "words": dict(plan.vocabularies),
            "annotators": made,
            "labels": checksums_of_lists(plan.corpus.labels),
            "policy": [
                *(plan.on_mismatch, plan.attach_roots, plan.features),
                *([plan.target_features] if plan.target_features else []),
            ],
        }

    def _make(self) -> Report:
        folder = self.plan.folder
        for name, taken in self._task.shard.files.items():
            taken.copy(folder / _RAW / name)
        for packed in (folder / "words").glob("train.*.gz"):
            _repack(packed, packed.with_suffix(""))
        super()._run()
        steps = {name: report for name, report in self.steps.reports.items() if name != "shard"}
        return {"lines": self._task.shard.lines, "steps": steps}

    def _tidy(self) -> None:
        """Removes what the data-bin was made of, except for parses that are to be kept."""
        folder = self.plan.folder
        for file in (folder / "words").glob("train.*"):
            is_annotation = any(file.name.endswith(f".{kind.ending}") for kind in self.plan.kinds)
            is_made = is_annotation and file.name not in self._task.shard.files
            if is_made and self._task.keeps_parses:
                _repack(file, file.with_name(f"{file.name}.gz"))
            elif file.suffix != ".gz":
                file.unlink()
        for file in (folder / "pieces").glob("train.*"):
            file.unlink()
        shutil.rmtree(folder / _RAW, ignore_errors=True)

    def take_labels(self) -> None:
        """Replaces the ids of the shard's own labels by those of the corpus.

        What is not the shard's own any more, as another list was taken, is made again first.
        """
        plan = self.plan
        assert plan.corpus is not None
        assert plan.corpus.labels is not None
        lists = plan.corpus.labels

        made_from = {"lists": checksums_of_lists(lists)}

        def make() -> Report:
            counts = LabelCounts.read(plan.folder / LABEL_COUNTS)
            take_labels(plan.data_bin, lists, counts, lambda line: self.note(f"  {line}"))
            return {}

        def outputs() -> list[Path]:
            return annotation_files(plan.data_bin)

        with sole_user(plan.folder, plan.outputs):
            try:
                self.steps.run("labels", made_from, make, outputs)
            except OtherLabelsError:
                self.steps.forget("shard")
                self.plan = replace(plan, corpus=replace(plan.corpus, labels=None))
                self._run()
                self.plan = plan
                self.steps.run("labels", made_from, make, outputs)


def _repack(file: Path, output: Path) -> None:
    """Compresses a file or unpacks it, by the name of the output, and removes it."""
    reads = gzip.open if file.suffix == ".gz" else open
    with reads(file, "rb") as stream, write_binary_atomically(output) as out:
        if output.suffix == ".gz":
            with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
                shutil.copyfileobj(stream, packed)
        else:
            shutil.copyfileobj(stream, out)
    file.unlink()


def counted_labels(tasks: Sequence[ShardTask]) -> dict[AnnotationKind, Counter[str]]:
    """How many words of the training text of some prepared shards have each label."""
    total: dict[AnnotationKind, Counter[str]] = {}
    for task in tasks:
        counts = LabelCounts.read(task.plan.folder / LABEL_COUNTS)
        for kind, found in counts.training.items():
            total.setdefault(kind, Counter()).update(found)
    return {kind: total[kind] for kind in KINDS if kind in total}


def recorded_shards(record: Path) -> dict[str, list[Shard]]:
    """The shards that a corpus has been cut into, by the name of the step.

    Raises:
        UserError: the record is damaged.
    """
    try:
        return {
            name: [Shard.recorded(values) for values in step["report"][SHARDS]]
            for name, step in (recorded_steps(record) or {}).items()
            if SHARDS in step["report"]
        }
    except (TypeError, ValueError, AttributeError):
        raise UserError(f"{record}: damaged: remove it, and run the same command again") from None
