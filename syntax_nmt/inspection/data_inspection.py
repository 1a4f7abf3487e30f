"""The inspection of a data-bin folder: figures of all text and annotation, and errors.

Loading (:mod:`syntax_nmt.data.binarised_annotation`) stops at the first file that differs from its
checksum; an inspection names all, and reads each once, however many annotation files depend on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary

from syntax_nmt.data.annotation import BINARISED_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.binarised_annotation import BinarisedAnnotation, open_annotation
from syntax_nmt.data.data_bin import load_dictionary
from syntax_nmt.data.data_bin_names import TextName
from syntax_nmt.data.figures.annotation_figures import AnnotationFigures
from syntax_nmt.data.figures.text_figures import SegmentedBlock, TextFigures, TokenFile, WordOpeners
from syntax_nmt.data.folders_of_training import check_same_dictionaries, check_same_labels
from syntax_nmt.data.manifest import NAME, AnnotationFile, Fingerprint, read_manifest, remedy
from syntax_nmt.data.subwords import CONTINUED, NO_SUBWORDS, SUBWORD_NMT, detect_scheme
from syntax_nmt.errors import UserError
from syntax_nmt.inspection.data_folder import DataFolder, find_data
from syntax_nmt.progress import Progress

Annotations = dict[AnnotationKind, BinarisedAnnotation]


@dataclass
class InspectedText:
    """One language of one split. Its files are closed again: an index takes memory a sentence.

    Attributes:
        prefix: fairseq's files of it without their ending.
        name: what it is.
        dictionary: of its language.
        scheme: how it was segmented, one of `subwords.SCHEMES`.
        damaged: annotation files that syntax.json names but that are not sound.
        text: its counts.
        figures: counts of its annotation files.
        words_known: False where subwords reach over words' ends.
    """

    prefix: Path
    name: TextName
    dictionary: Dictionary
    scheme: str
    damaged: list[AnnotationKind] = field(default_factory=list)
    text: TextFigures = field(default_factory=TextFigures)
    figures: dict[AnnotationKind, AnnotationFigures] = field(default_factory=dict)
    words_known: bool = True

    def open(self) -> tuple[TokenFile, Annotations]:
        """Its tokens, and its sound annotation files by kind."""
        tokens = TokenFile(self.prefix, self.dictionary)
        annotations = {
            kind: open_annotation(self.prefix, kind, tokens.sizes, checksums=False)
            for kind in self.figures
        }
        return tokens, annotations


@dataclass
class Inspection:
    """What was found.

    Attributes:
        data: the folder's names.
        manifest: its annotation files by name; empty without syntax.json.
        texts: those that can be read.
        problems: errors in the data, one line each.
        warnings: unusual but harmless findings.
    """

    data: DataFolder
    manifest: Mapping[str, AnnotationFile] = field(default_factory=dict)
    texts: list[InspectedText] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def inspect_data(
    folder: str | Path, scheme: str | None = None, words: str | Path | None = None
) -> Inspection:
    """Reads all of a data-bin folder, block by block.

    Args:
        folder: the data-bin folder.
        scheme: one of `subwords.SCHEMES`; None = detected from the text.
        words: folder of the texts that annotation is made from; None = they are not checked.

    Raises:
        UserError: it is no data-bin folder. Other errors are in the result.
    """
    return _Inspector(Inspection(find_data(folder)), scheme).run(words)


def compare_folders(found: Sequence[Inspection]) -> None:
    """Adds to the problems of a folder that a training cannot read it by turns with the first.

    Args:
        found: the folders of one training.
    """
    folders = [each.data.path for each in found]
    languages = dict.fromkeys(text.name.language for text in found[0].texts)
    for number, folder in enumerate(folders[1:], start=1):
        try:
            check_same_dictionaries((folders[0], folder), list(languages))
            check_same_labels((folders[0], folder), BINARISED_KINDS)
        except UserError as error:
            found[number].problems.append(str(error))


class _Inspector:
    """Fills an inspection; a file that is known to be wrong is reported once."""

    def __init__(self, result: Inspection, scheme: str | None) -> None:
        self.result = result
        self.folder = result.data.path
        self.scheme = scheme
        self._bad_files: set[str] = set()
        self._unsound: set[str] = set()
        self._dictionaries: dict[str, Dictionary | None] = {}

    def run(self, words: str | Path | None) -> Inspection:
        readable = self._read_manifest()
        self._compare_checksums(None if words is None else Path(words))
        for name in self.result.data.texts:
            dictionary = self._dictionary(name.language)
            if dictionary is not None:
                self._inspect_text(name, dictionary)
        self._compare_sentence_counts()
        self._warn(readable)
        return self.result

    def _read_manifest(self) -> bool:
        try:
            self.result.manifest = read_manifest(self.folder)
        except UserError as error:
            self.result.problems.append(str(error))
            return False
        return True

    def _compare_checksums(self, words: Path | None) -> None:
        recorded: dict[str, dict[Fingerprint, list[str]]] = {}
        for name, entry in self.result.manifest.items():
            for file_name, fingerprint in entry.files.items():
                recorded.setdefault(file_name, {}).setdefault(fingerprint, []).append(name)
        for file_name, wanted in recorded.items():
            for message, dependants in differences(self.folder / file_name, wanted):
                self.result.problems.append(message)
                self._bad_files.add(file_name)
                self._unsound.update(dependants)
        if words is not None:
            for name, entry in self.result.manifest.items():
                of_source = {entry.source_text: [name]}
                self.result.problems += [
                    text for text, _ in differences(words / entry.source, of_source)
                ]

    def _inspect_text(self, name: TextName, dictionary: Dictionary) -> None:
        try:
            prefix = self.folder / str(name)
            tokens = TokenFile(prefix, dictionary)
            scheme = _detect_scheme(tokens) if self.scheme is None else self.scheme
            text = InspectedText(prefix, name, dictionary, scheme)
            _count(text, tokens, self._open_annotations(text, tokens))
        except UserError as error:
            known = {f"{name}.bin", f"{name}.idx", f"dict.{name.language}.txt"}
            if not self._bad_files & known:
                self.result.problems.append(str(error))
            return
        self.result.texts.append(text)
        for kind, figures in text.figures.items():
            path = self.folder / f"{name}.{kind.name}.bin"
            self.result.problems += [
                f"{path}: {message}: {remedy(path)}" for message in figures.faults.messages()
            ]

    def _dictionary(self, language: str) -> Dictionary | None:
        if language not in self._dictionaries:
            path = self.folder / f"dict.{language}.txt"
            self._dictionaries[language] = None
            try:
                self._dictionaries[language] = load_dictionary(path)
            except UserError as error:
                self.result.problems.append(str(error))
        return self._dictionaries[language]

    def _open_annotations(self, text: InspectedText, tokens: TokenFile) -> Annotations:
        """Opens what syntax.json names and checks its lengths; checksums are compared already."""
        annotations = {}
        for kind in BINARISED_KINDS:
            name = f"{text.name}.{kind.name}"
            if name not in self.result.manifest:
                continue
            if name in self._unsound:
                text.damaged.append(kind)
                continue
            try:
                annotation = open_annotation(text.prefix, kind, tokens.sizes, checksums=False)
            except UserError as error:
                self.result.problems.append(str(error))
                text.damaged.append(kind)
                continue
            annotations[kind] = annotation
            text.figures[kind] = kind.figures(annotation.labels)
        return annotations

    def _compare_sentence_counts(self) -> None:
        def pair(text: InspectedText) -> tuple[str, str]:
            return text.name.split, text.name.pair

        for _, group in groupby(self.result.texts, key=pair):
            first, *others = group
            for other in others:
                if first.text.sentences != other.text.sentences:
                    self.result.problems.append(
                        f"{first.prefix}.idx has {first.text.sentences} sentences, "
                        f"{other.name}.idx {other.text.sentences}: run fairseq-preprocess on texts "
                        f"that are parallel"
                    )

    def _warn(self, manifest_is_readable: bool) -> None:
        """Reports files that are never loaded."""
        warn = self.result.warnings.append
        if manifest_is_readable:
            for name in self.result.data.annotation:
                if name not in self.result.manifest:
                    warn(
                        f"{self.folder / name}.bin, .idx: not in {NAME}, so never loaded: remove "
                        f"them or {remedy(self.folder / NAME)}"
                    )
        for text in self.result.texts:
            if not text.words_known:
                warn(
                    f"{text.prefix}: subwords reach over words' ends, so words "
                    f"are not known: train sentencepiece with --split_by_whitespace"
                )


def _count(text: InspectedText, tokens: TokenFile, annotations: Annotations) -> None:
    """One pass over a text and its annotation files."""
    openers = WordOpeners(text.dictionary.symbols, text.scheme)
    with Progress(None, str(text.name), "sentences", len(tokens), leave=False) as bar:
        for block in tokens.blocks():
            text.words_known &= not openers.reach_over(block)
            segmented = SegmentedBlock.of(block, openers, text.dictionary.unk())
            text.text.add(segmented)
            for kind, annotation in annotations.items():
                text.figures[kind].add(segmented, annotation.rows)
            bar.update(len(block.sizes))


def _detect_scheme(tokens: TokenFile) -> str:
    """The scheme of a text, from its first block, or from all of it if that has no mark."""
    pieces = np.array(tokens.dictionary.symbols, dtype=object)
    continued = np.array([piece.endswith(CONTINUED) for piece in pieces])
    scheme = NO_SUBWORDS
    for block in tokens.blocks():
        if not block.first:
            rows = np.split(pieces[block.values], np.cumsum(block.sizes)[:-1])
            scheme = detect_scheme(" ".join(row) for row in rows)
        if scheme != NO_SUBWORDS or not continued.any():
            break
        if continued[block.values].any():
            return SUBWORD_NMT
    return scheme


def differences(
    path: Path, recorded: Mapping[Fingerprint, Sequence[str]]
) -> Iterator[tuple[str, Sequence[str]]]:
    """A message for each way in which a file differs, and the annotation files that it concerns.

    Args:
        recorded: its checksums, each with the annotation files that were made for it.
    """
    try:
        found = Fingerprint.of(path)
    except (OSError, ValueError) as error:  # ValueError: no name that a file can have
        reason = getattr(error, "strerror", None) or error
        names = [name for group in recorded.values() for name in group]
        yield (
            f"{path}: cannot be read ({reason}), needed by {', '.join(names)}: {remedy(path)}",
            names,
        )
        return
    for wanted, group in recorded.items():
        if difference := found.difference(wanted):
            message = (
                f"{path}: damaged, or changed since {', '.join(group)} was made "
                f"({difference}): {remedy(path)}"
            )
            yield message, group
