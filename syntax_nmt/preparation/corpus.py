"""A corpus in shards: the vocabulary of a sample, shards on any workers, and labels of all."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from syntax_nmt.data.data_bin_names import is_training
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.prepared_text import SHARD, shard_folders
from syntax_nmt.data.text_files import read_lines, write_atomically, write_unless_same
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.executor import ordered_map
from syntax_nmt.preparation.fairseq_data import dictionaries, outdated_models
from syntax_nmt.preparation.plan import OfCorpus, Plan
from syntax_nmt.preparation.preparation import Preparation
from syntax_nmt.preparation.sharding import Sharding
from syntax_nmt.preparation.shards import (
    Shard,
    ShardReport,
    ShardTask,
    counted_labels,
    cut,
    label_shard,
    prepare_shard,
    recorded_shards,
)
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.steps import SHARDS, UNKNOWN, Report, Steps
from syntax_nmt.preparation.tokenize import loaded_tokenizer
from syntax_nmt.progress import Progress

_SEED = 1
_CUT = "shards"  # the step that records the corpus's shards; appended ones have steps of their own


class Corpus:
    """Prepares a corpus in shards; what is done is not done again.

    Args:
        plan: of the whole corpus.
        note: called with one line about each event.
    """

    def __init__(self, plan: Plan, sharding: Sharding, note: Callable[[str], None]) -> None:
        self.plan, self.sharding, self.note = plan, sharding, note
        self._labels = plan.folder / "labels"
        self._sample = plan.folder / "sample"

    def run(self) -> dict[str, Report]:
        """Makes all shards, or the only one that is wanted.

        Returns:
            The figures of their steps, added up.

        Raises:
            UserError: for mistakes that the user can correct; finished steps are kept.
        """
        sharding = self.sharding
        with self._locked() as steps:
            shards = self._shards(steps)
            self._vocabulary(steps)
            if sharding.appends and steps.report("labels") is None:
                raise UserError(
                    f"--append: {self._labels}: not there, or changed: prepare the corpus with "
                    "its own lists of labels first"
                )
        known = self._labels if sharding.appends else None
        corpus = OfCorpus(self._sample, known)
        tasks = [
            ShardTask.of(self.plan, shard, corpus, sharding.keeps_parses)
            for shard in shards
            if sharding.only in (None, shard.number)
        ]
        if not tasks:
            numbers = f"{shards[0].number} to {shards[-1].number}"
            raise UserError(f"--only-shard {sharding.only}: there are shards {numbers}")
        resources = self.plan.resources
        scheduler = resources.dask_scheduler
        with ordered_map(1 if len(tasks) == 1 else resources.workers, scheduler) as mapped:
            done = list(self._told(mapped(prepare_shard, tasks), tasks))
            if sharding.only is None and not sharding.appends:
                with self._locked() as steps:
                    self._list_labels(steps, tasks)
                corpus = OfCorpus(self._sample, self._labels)
                labelled = [each._replace(plan=replace(each.plan, corpus=corpus)) for each in tasks]
                for found in mapped(label_shard, labelled):
                    self._findings(found)
        self._compare_kinds(tasks)
        return added_up([each.steps for each in done])

    @contextmanager
    def _locked(self) -> Iterator[Steps]:
        """The record of the corpus, which jobs of several shards write in turn."""
        with folder_lock(self.plan.folder):
            yield Steps(self.plan.record, self.note)

    def _shards(self, steps: Steps) -> list[Shard]:
        """Cuts the raw text, or knows from earlier how.

        Raises:
            UserError: other settings than those of a corpus that is appended to, or shards of
                another cut are in the folder.
        """
        plan, sharding = self.plan, self.sharding
        recorded = recorded_shards(plan.record)
        texts = [split for split in plan.splits if split.is_training]
        step = _CUT
        if sharding.appends:
            self._compare_settings(steps)
            step = self._appended(texts, recorded)
        others = [each for name, found in recorded.items() if name != step for each in found]
        following = max((shard.number for shard in others), default=-1) + 1
        number = recorded[step][0].number if step in recorded else following

        def make() -> Report:
            found = cut(plan, sharding.size, number)
            self._refuse_to_replace(found, others)
            return {SHARDS: [list(shard) for shard in found]}

        given = [path for (name, _), path in plan.given.items() if is_training(name)]
        made_from = {"files": _stamps(texts, given), "size": sharding.size, "number": number}
        report = steps.run(step, made_from, make, lambda: [])
        shards = [Shard.recorded(values) for values in report[SHARDS]]
        if not sharding.appends:
            steps.run("corpus", self._settings(), self._settings, lambda: [])
        there = {path.name for path in shard_folders(plan.folder)}
        left = there - {f"{SHARD}{shard.number}" for shard in (*others, *shards)}
        if left:
            raise UserError(
                f"{plan.folder / min(left)}: is of another --shard-size or text, and would be "
                "trained on, too: remove it, or give another --destdir"
            )
        return shards

    def _appended(self, texts: Sequence[Split], recorded: Mapping[str, Sequence[Shard]]) -> str:
        """The step that cuts appended text, as it was called when it was appended first.

        Raises:
            UserError: a part of the text stands in the corpus already.
        """
        wanted: dict[tuple[Path, ...], str]
        wanted = {(split.source.resolve(), split.target.resolve()): split.prefix for split in texts}
        for step, shards in recorded.items():
            there = {}
            for shard in reversed(shards):
                files = [shard.files[f"train.{lang}"].file for lang in self.plan.languages]
                there[tuple(Path(file).resolve() for file in files)] = shard
            if step != _CUT and there.keys() == wanted.keys():
                return step
            for text in there.keys() & wanted.keys():
                raise UserError(
                    f"--append: {wanted[text]} stands in the corpus already, as "
                    f"{SHARD}{there[text].number}: leave it out"
                )
        names = ",".join(str(path) for text in sorted(wanted) for path in text)
        return f"{_CUT} of {hashlib.sha256(names.encode()).hexdigest()[:8]}"

    def _refuse_to_replace(self, shards: Sequence[Shard], others: Sequence[Shard]) -> None:
        """Refuses shards in place of those of other texts.

        Raises:
            UserError: names the first.
        """
        numbers = {shard.number for shard in shards}
        for shard in others:
            if shard.number in numbers:
                raise UserError(
                    f"{self.plan.folder / f'{SHARD}{shard.number}'}: is of {shard.prefix}, and "
                    f"would be replaced, as {shards[0].prefix} takes more shards than before: give "
                    "it as it was, with the same --shard-size, and --append new lines under "
                    "another name"
                )

    def _settings(self) -> Report:
        """What all shards have in common, appended ones included."""
        plan = self.plan
        tokenizers = [
            loaded_tokenizer(plan.tokenizers[lang]).fingerprint() for lang in plan.languages
        ]
        return {
            "languages": list(plan.languages),
            "tokenizers": tokenizers,
            "--separate": not plan.joined,
            "words": dict(plan.vocabularies),
            "--features": plan.features,
            "--target-features": plan.target_features,
            "--attach-roots": plan.attach_roots,
        }

    def _compare_settings(self, steps: Steps) -> None:
        recorded = steps.report("corpus")
        if recorded is None:
            raise UserError(
                f"--append: {self.plan.folder} has no corpus in shards: prepare it without "
                "--append first"
            )
        for name, value in json.loads(json.dumps(self._settings())).items():
            if recorded.get(name) != value:  # older records lack the latest option
                raise UserError(
                    f"--append: {name} {value}, the shards of {self.plan.folder} have "
                    f"{recorded.get(name)}: give the same"
                )
        model = self.plan.piece_model
        if model is not None:
            used = self._sample / "sentencepiece.model"
            if not used.is_file() or steps.checksum(used) != steps.checksum(model):
                raise UserError(
                    f"--sentencepiece-model {model}: another than {used}, which the shards of "
                    f"{self.plan.folder} have: leave it out"
                )

    def _vocabulary(self, steps: Steps) -> None:
        """Prepares a sample, whose models and dictionaries all shards take."""
        plan, sharding = self.plan, self.sharding
        if sharding.appends:
            return
        texts = [split for split in plan.splits if split.is_training]
        total = sum(split.lines for split in texts)
        lines = min(total, sharding.sample)
        prefix = self._sample / "raw" / "train"
        raw = [prefix.with_name(f"train.{lang}") for lang in plan.languages]

        def make() -> Report:
            for side, output in zip(("source", "target"), raw):
                _draw([getattr(split, side) for split in texts], total, lines, output)
            return {"lines": lines, "of": total, "seed": _SEED}

        made_from = {"files": _stamps(texts), "lines": lines, "seed": _SEED}
        steps.run("sample", made_from, make, lambda: raw)
        sample = replace(
            plan,
            splits=[Split("train", str(prefix), raw[0], raw[1], lines)],
            folder=self._sample,
            annotators={},
            given={},
            features=None,
            target_features=None,
        )
        before = dictionaries(sample)
        Preparation(sample, lambda line: self.note(f"sample: {line}")).run()
        for line in outdated_models(plan.folder, before, dictionaries(sample)):
            self.note(line)

    def _told(
        self, results: Iterator[ShardReport], tasks: Sequence[ShardTask]
    ) -> Iterator[ShardReport]:
        total = sum(task.shard.lines for task in tasks)
        with Progress(None, "shards", "lines", total) as progress:
            for found in results:
                rate = f"{found.lines / found.seconds:,.0f} lines/s" if found.seconds else ""
                self.note(
                    f"{SHARD}{found.number}: {found.lines:,} lines, {found.seconds:.1f} s, {rate}"
                )
                self._findings(found)
                progress.update(found.lines)
                yield found

    def _findings(self, found: ShardReport) -> None:
        for note in found.notes:
            self.note(f"  {SHARD}{found.number}: {note}")

    def _list_labels(self, steps: Steps, tasks: Sequence[ShardTask]) -> None:
        """Writes the labels of all training text, each kind's in a file."""
        threshold = self.plan.feature_threshold
        counts = counted_labels(tasks)

        def make() -> Report:
            for old in self._labels.glob("dict.*.txt"):
                old.unlink()
            for kind, found in counts.items():
                listed = kind.listed(found, threshold)
                write_unless_same(self._labels / str(kind.labels_file), "\n".join([*listed, ""]))
            return {kind.name: len(found) for kind, found in counts.items()}

        self._labels.mkdir(exist_ok=True)
        made_from = {
            "threshold": threshold,
            "counts": {kind.name: found for kind, found in counts.items()},
        }
        files = [self._labels / str(kind.labels_file) for kind in counts]
        steps.run("labels", made_from, make, lambda: files)

    def _compare_kinds(self, tasks: Sequence[ShardTask]) -> None:
        """Says which shard lacks annotation that the first has: a training would stop there."""
        first = self.plan.folder / f"{SHARD}0" / "data-bin"
        if not first.is_dir():
            return
        kinds = _training_kinds(first)
        for task in tasks:
            for missing in sorted(kinds - _training_kinds(task.plan.data_bin)):
                self.note(
                    f"  {task.plan.data_bin}: has no {missing}, which {first} has: trainings that "
                    "load it stop there"
                )


def _training_kinds(data_bin: Path) -> set[str]:
    return {name for name in read_manifest(data_bin) if name.startswith("train.")}


def _stamps(texts: Sequence[Split], given: Sequence[Path] = ()) -> dict[str, list[int]]:
    """Size and time of raw text and of annotation; checksums would take as long as the text is.
    Each shard compares its own."""
    files = [path for split in texts for path in (split.source, split.target)]
    stamps = {os.path.abspath(path): path.stat() for path in (*files, *given)}
    return {path: [stamp.st_size, stamp.st_mtime_ns] for path, stamp in stamps.items()}


def _draw(texts: Sequence[Path], total: int, lines: int, output: Path) -> None:
    """Writes some lines of several texts, one of each of `lines` stretches of the same length.

    Args:
        total: lines of all texts.
    """
    bounds = np.arange(lines + 1) * total // lines
    random = np.random.default_rng(_SEED)
    wanted = iter(random.integers(bounds[:-1], bounds[1:]).tolist())
    number, following = 0, next(wanted, None)
    with write_atomically(output) as out:
        for text in texts:
            for line in read_lines(text):
                if number == following:
                    out.write(f"{line}\n")
                    following = next(wanted, None)
                number += 1


def added_up(shards: Sequence[Mapping[str, Report]]) -> dict[str, Report]:
    """The figures of the steps of all shards: sums, and the share of unknown pieces of all."""
    total: dict[str, Report] = {}
    pieces: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for steps in shards:
        for name, report in steps.items():
            found = total.setdefault(name, {})
            for key, value in report.items():
                number = isinstance(value, int) and not isinstance(value, bool)
                found[key] = found.get(key, 0) + value if number else found.get(key, value)
        for name, share in steps.get("data-bin", {}).get(UNKNOWN, {}).items():
            number = steps[f"pieces/{name}"]["pieces"]
            pieces[name] += number
            unknown[name] += share * number
    if "data-bin" in total:
        shares = {name: round(unknown[name] / max(1, pieces[name]), 4) for name in pieces}
        total["data-bin"][UNKNOWN] = shares
    return total
