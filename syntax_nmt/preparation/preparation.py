"""The steps from raw parallel text to a data-bin folder, in their order."""

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from syntax_nmt.data.annotation import DERIVED_KINDS
from syntax_nmt.data.folder_lock import sole_user
from syntax_nmt.data.linearised_folder import KEY, MIXED, MULTITASK, option_of
from syntax_nmt.data.prepared_text import write_segmentation
from syntax_nmt.data.subwords import NO_SUBWORDS, SENTENCEPIECE
from syntax_nmt.data.text_columns import counted
from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.data.word_annotation import WordAnnotation
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotation_texts import AnnotationTexts
from syntax_nmt.preparation.binarised_texts import annotation_files, remove_annotation
from syntax_nmt.preparation.binarizing import binarize
from syntax_nmt.preparation.empty_columns import refuse_empty_in
from syntax_nmt.preparation.executor import ordered_map
from syntax_nmt.preparation.fairseq_data import (
    dictionaries,
    outdated_models,
    preprocess,
    written_files,
)
from syntax_nmt.preparation.foreign_text import foreign_texts
from syntax_nmt.preparation.label_lists import LabelCounts, checksums_of_lists
from syntax_nmt.preparation.linearising import Lengths, Linearising, linearise_split
from syntax_nmt.preparation.parser_config import write_parser_config
from syntax_nmt.preparation.plan import Plan
from syntax_nmt.preparation.segment import (
    MOST_LINES,
    PIECE_KIND,
    copy_words,
    load_sentencepiece,
    segment_file,
    train_model,
)
from syntax_nmt.preparation.splits import Split
from syntax_nmt.preparation.steps import PARSER, SYMBOLS, UNKNOWN, Report, Steps
from syntax_nmt.preparation.tokenize import loaded_tokenizer, tokenize_file
from syntax_nmt.preparation.training_settings import training_settings

# What tokenisation counts of replaced characters: the name of one, and what became of it.
_REPLACED = (
    ("space", "unusual space", "by U+0020"),
    ("invisible", "invisible character", "by nothing"),
    ("mark", "word mark", "of sentencepiece (▁) by _"),
    ("apostrophe", "typographic apostrophe", "inside words (’) by '"),
)


class Preparation:
    """Carries out a plan, without steps that an earlier run has done.

    Args:
        note: called with one line about each event.
    """

    def __init__(self, plan: Plan, note: Callable[[str], None]) -> None:
        self.plan = plan
        self.note = note

    @cached_property
    def steps(self) -> Steps:
        """The record of what is done.

        It is read when it is first asked for: when no other process can write it any more.
        """
        return Steps(self.plan.record, self.note)

    def run(self) -> None:
        """Makes everything.

        Raises:
            UserError: for mistakes that the user can correct; finished steps are kept.
        """
        with sole_user(self.plan.folder, self.plan.outputs):
            self._run()

    def _run(self) -> None:
        for split in self.plan.splits:
            for lang in self.plan.languages:
                self._words(split, lang)
        source, target = self.plan.languages
        texts = [
            (self.plan.words(split.name, source), self.plan.words(split.name, target))
            for split in self.plan.splits
        ]
        for line in foreign_texts(texts[0], texts[1:]):
            self.note(line)
        # Before the long work: a given file may be malformed, or models be missing after all.
        annotation_texts = AnnotationTexts(self.plan, self.steps, self.note)
        how = self.plan.linearised
        annotated = [
            split for split in self.plan.splits if how is None or how.needs_trees(split.name)
        ]
        given = {path for split in annotated for path in annotation_texts.take_given(split)}
        if how is not None:  # parses are text: they come before all that is made of text
            made = {path for split in annotated for path in annotation_texts.complete(split, given)}
            for split in self.plan.splits:
                self._linearised(how, split, made)
        self._models()
        for split in self.plan.splits:
            for lang in self.plan.languages:
                self._pieces(split, lang)
        self._data_bin()
        if how is None:
            self._binarized(
                [path for split in annotated for path in annotation_texts.complete(split, given)]
            )
        else:
            self._lengths(how)
        write_parser_config(self.plan, self.steps, self.note)
        write_segmentation(self.plan.folder, self.plan.segmentation)

    def _words(self, split: Split, lang: str) -> None:
        plan = self.plan
        raw = split.source if lang == plan.source else split.target
        words, tokenizer = plan.words(split.name, lang), plan.tokenizers[lang]

        def make() -> Report:
            # Spawning processes takes longer than segmenting a small corpus.
            processes = plan.workers if split.lines > 100_000 else 1
            with ordered_map(processes) as mapped:
                return dict(tokenize_file(raw, words, tokenizer, mapped))

        made_from = {
            "raw": self.steps.checksum(raw),
            "compressed": raw.suffix == ".gz",
            "tokenizer": loaded_tokenizer(tokenizer).fingerprint(),
            "sacremoses": version("sacremoses"),
        }
        report = self.steps.run(f"words/{words.name}", made_from, make, lambda: [words])
        if "fallback" in report:
            failed = counted(report["fallback"], "line")
            self.note(f"  {raw}: {failed}, on which {tokenizer.mode} failed, tokenised by char")
        replaced = [
            f"{counted(report[kind], one)} {by}" for kind, one, by in _REPLACED if kind in report
        ]
        if replaced:
            self.note(f"  {raw}: replaced {', '.join(replaced)}")

    def _linearised(self, how: Linearising, split: Split, made: Container[Path]) -> None:
        """Makes the text of a split, with brackets where they are wanted.

        Args:
            made: the files of trees.
        """
        plan, trees = self.plan, None
        words, outputs = (
            (path(split.name, plan.source), path(split.name, plan.target))
            for path in (plan.words, plan.text)
        )
        made_from: dict[str, Any] = {
            "words": [self.steps.checksum(path) for path in words], "how": how.settings()
        }  # fmt: skip
        if how.needs_trees(split.name):
            file = plan.annotation_text(split.name, how.kind)
            if file not in made:
                missing = f"{split.prefix}.{plan.language(how.kind)}.{how.kind.ending}"
                raise UserError(
                    f"{how.option} needs trees of {split.name}, and there is no "
                    f"{missing}: give it, or leave --no-parse out"
                )
            if how.column is not None and split.is_training:
                refuse_empty_in(file, [how.column], option_of(how.mode))
            trees = WordAnnotation(file, how.kind, plan.attach_roots)
            made_from["trees"] = self.steps.checksum(file)
        report = self.steps.run(
            f"linearised/{split.name}",
            made_from,
            lambda: dict(linearise_split(how, words, trees, outputs)),
            lambda: outputs,
        )
        if report.get("unparsed"):
            self.note(
                f"  {report['unparsed']:,} of {report['pairs']:,} pairs have no tree, and stand in "
                "the text without brackets alone"
            )

    def _lengths(self, how: Linearising) -> None:
        """Says which lines are too long, and how many updates an epoch of translation takes."""
        for split in self.plan.splits:
            source, target = (self.plan.pieces(split.name, lang) for lang in self.plan.languages)
            lengths = Lengths.of((source, target), how)
            for line in lengths.notes((source, target), how):
                self.note(line)
            if split.name == "train" and how.mode in (MULTITASK, MIXED):
                lines = self.steps.reports["linearised/train"]["lines"]
                settings = training_settings(lines, gpu=torch.cuda.is_available())
                self.note(lengths.note_of_updates(settings.max_tokens * settings.update_freq))

    def _models(self) -> None:
        plan = self.plan
        if not plan.cut_languages:
            return
        if plan.corpus is not None:
            for name in dict.fromkeys(plan.model(lang).name for lang in plan.cut_languages):
                self._given_model(plan.corpus.vocabulary / name, plan.folder / name)
        elif plan.piece_model is not None:
            self._given_model(plan.piece_model, plan.model(plan.source))
        elif plan.joined:
            self._trained_model(plan.languages)
        else:
            for lang in plan.cut_languages:
                self._trained_model([lang])

    def _given_model(self, given: Path, model: Path) -> None:
        def make() -> Report:
            size = load_sentencepiece(given).get_piece_size()
            if given.resolve() != model.resolve():
                write_bytes_atomically(model, given.read_bytes())
            return {"size": size}

        made_from = {"given": self.steps.checksum(given)}
        self.steps.run(model.name, made_from, make, lambda: [model])

    def _trained_model(self, languages: Sequence[str]) -> None:
        plan = self.plan
        model = plan.model(languages[0])
        texts = [plan.text("train", lang) for lang in languages]
        symbols = plan.linearised is not None

        def make() -> Report:
            return {"size": train_model(texts, model, plan.vocab_size, symbols)}

        made_from = {
            "texts": [self.steps.checksum(text) for text in texts],
            "settings": (plan.vocab_size, PIECE_KIND, MOST_LINES),
            "sentencepiece": version("sentencepiece"),
        }
        report = self.steps.run(model.name, made_from, make, lambda: [model])
        if report["size"] != plan.vocab_size:
            self.note(
                f"  the training text has fewer pieces than --vocab-size {plan.vocab_size}: "
                f"{report['size']} instead"
            )

    def _pieces(self, split: Split, lang: str) -> None:
        plan = self.plan
        words, pieces = plan.text(split.name, lang), plan.pieces(split.name, lang)
        symbols = plan.linearised is not None
        made_from = {"words": self.steps.checksum(words)}
        if lang in plan.vocabularies:
            made_from["symbols of fairseq"] = "unknown"

            def make() -> Report:
                return dict(copy_words(words, pieces))

        else:
            model = plan.model(lang)
            made_from["model"] = self.steps.checksum(model)

            def make() -> Report:
                return dict(segment_file(model, words, pieces, plan.workers, symbols))

        report = self.steps.run(f"pieces/{pieces.name}", made_from, make, lambda: [pieces])
        if SYMBOLS in report:
            self.note(
                f"  {words}: {counted(report[SYMBOLS], 'word')} that fairseq takes for its own "
                "symbols (<s>, <pad>, </s>): counted as <unk>"
            )

    def _data_bin(self) -> None:
        plan = self.plan
        pieces = {
            f"{split.name}.{lang}": self.steps.checksum(plan.pieces(split.name, lang))
            for split in plan.splits
            for lang in plan.languages
        }
        made_from: dict[str, Any] = {
            "pieces": pieces, "languages": plan.languages, "joined": plan.joined
        }  # fmt: skip
        if plan.corpus is not None:
            dictionaries = [
                plan.corpus.vocabulary / f"data-bin/dict.{lang}.txt" for lang in plan.languages
            ]
            made_from["dictionaries"] = [self.steps.checksum(path) for path in dictionaries]
        if plan.vocabularies:
            made_from["vocabularies"] = dict(plan.vocabularies)
        # Programs that use the folder read here that its text has brackets.
        form = {} if plan.linearised is None else {KEY: plan.linearised.mode}
        self.steps.run(
            "data-bin",
            made_from | form,
            lambda: {UNKNOWN: self._preprocessed(), **form},
            lambda: written_files(plan),
        )

    def _preprocessed(self) -> dict[str, float]:
        """Writes the data-bin, and warns where models have been trained on another vocabulary."""
        plan, before = self.plan, dictionaries(self.plan)
        unknown = preprocess(plan)
        for line in outdated_models(plan.folder, before, dictionaries(plan)):
            self.note(f"  {line}")
        return unknown

    def _binarized(self, annotation: Sequence[Path]) -> None:
        plan = self.plan
        if not annotation:
            remove_annotation(plan.data_bin)
            if plan.label_counts is not None:
                LabelCounts({}, {}).write(plan.label_counts)
            return

        reports = {path: self.steps.reports.get(f"words/{path.name}", {}) for path in annotation}
        parsers = {path: found[PARSER] for path, found in reports.items() if PARSER in found}

        def make() -> Report:
            remove_annotation(plan.data_bin)
            for kind, columns in plan.columns.items():
                for path in {plan.annotation_text("train", kind)}.intersection(parsers):
                    refuse_empty_in(path, columns)
            written = binarize(
                *plan.languages,
                plan.data_bin,
                words=plan.folder / "words",
                only=annotation,
                subwords={
                    lang: SENTENCEPIECE if lang in plan.cut_languages else NO_SUBWORDS
                    for lang in plan.languages
                },
                workers=plan.workers,
                attach_roots=plan.attach_roots,
                features=plan.features,
                target_features=plan.target_features,
                feature_threshold=plan.feature_threshold,
                labels=None if plan.corpus is None else plan.corpus.labels,
                counts=plan.label_counts,
                parsers=parsers,
                report=lambda line: self.note(f"  {line}"),
                **plan.piece_prefixes,
            )
            return {name: entry.annotated for name, entry in written.items()}

        made_from = self._binarized_from(annotation, parsers)
        self.steps.run("binarize", made_from, make, lambda: annotation_files(plan.data_bin))

    def _binarized_from(
        self, annotation: Sequence[Path], parsers: Mapping[Path, str]
    ) -> dict[str, Any]:
        """What the binarised annotation depends on: binarize runs again when it has changed."""
        plan = self.plan
        texts = [
            path(split.name, lang)
            for split in plan.splits
            for lang in plan.languages
            for path in (plan.words, plan.pieces)
        ]
        made_from: dict[str, Any] = {path.name: self.steps.checksum(path) for path in annotation}
        made_from["text"] = ",".join(map(self.steps.checksum, texts))
        derived = [
            kind.name
            for kind in DERIVED_KINDS
            if any(path.name.endswith(f".{kind.ending}") for path in annotation)
        ]
        if derived:
            made_from["derived"] = ",".join(derived)
        if plan.features is not None:
            made_from["features"] = f"{plan.features} {plan.feature_threshold}"
        if plan.target_features is not None:
            made_from["target features"] = f"{plan.target_features} {plan.feature_threshold}"
        if parsers:
            made_from["parsers"] = ", ".join(parsers.values())
        if plan.corpus is not None:
            made_from["labels of"] = checksums_of_lists(plan.corpus.labels)
        return made_from
