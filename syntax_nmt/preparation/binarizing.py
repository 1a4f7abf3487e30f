"""`syntax-nmt binarize`: adds annotation to a data-bin folder of fairseq-preprocess."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from fairseq.data import indexed_dataset

from syntax_nmt.data.annotation import DERIVED_KINDS, TARGET_COLUMNS, TEXT_KINDS
from syntax_nmt.data.annotation.columns import FEATURE_THRESHOLD, LISTING, Column, check_columns
from syntax_nmt.data.annotation.formats import CONLLU
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin_names import is_training
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.manifest import NAME as MANIFEST
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, read_manifest, write_manifest
from syntax_nmt.data.sentence_projection import AnnotatedText, Projected, RangeRows, read_part
from syntax_nmt.data.subwords import detect_scheme
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.data.word_annotation import (
    SKIP,
    STOP,
    AnnotationFit,
    EntryCountError,
    WordAnnotation,
    refuse_missing,
    refuse_shift,
)
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.binarised_texts import BinarisedText, find_text_files, report_missing
from syntax_nmt.preparation.executor import OrderedMap, ordered_map
from syntax_nmt.preparation.joining import Joined, Rows, join_rows, report_labels
from syntax_nmt.preparation.label_lists import (
    LabelCounts,
    LabelLists,
    given_labels,
    labels_on_record,
    refuse_two_lists,
)
from syntax_nmt.preparation.splits import named_prefixes
from syntax_nmt.progress import Progress
from syntax_nmt.text.languages import SOURCE, TARGET

_STAGING = ".binarize-"  # prefix of the folder of incomplete files
_RANGE = 10_000  # sentences that a worker takes at a time; the progress bar's step


def binarize(
    source_lang: str,
    target_lang: str,
    destdir: str | Path,
    *,
    trainpref: str | None = None,
    validpref: str | None = None,
    testpref: str | None = None,
    words: str | Path | None = None,
    subwords: str | Mapping[str, str] = "auto",
    only: Container[Path] | None = None,
    workers: int = 1,
    on_mismatch: str = STOP,
    attach_roots: bool = False,
    features: str | None = None,
    target_features: str | None = None,
    feature_threshold: int = FEATURE_THRESHOLD,
    labels: str | Path | None = None,
    counts: str | Path | None = None,
    parsers: Mapping[Path, str] = MappingProxyType({}),
    report: Callable[[str], None] = print,
) -> dict[str, AnnotationFile]:
    """Binarises every annotation file there is; needs fairseq-preprocess to have run.

    Labels, such as chunk types, are those of a given list, or those of the training text, all its
    parts together. A sentence with one that the list does not have counts as not annotated, and the
    report says so. All files appear together at the end: a failure does not change the folder.

    Args:
        destdir: the data-bin folder.
        trainpref: prefix of the training text in subwords; several, separated by commas, are those
            of the shards `train`, `train1`, … that fairseq joins.
        validpref: prefix of the validation text, likewise.
        testpref: prefix of the test text, likewise.
        words: folder of the tokenised text and the annotation files; the prefixes' own by default.
        subwords: `auto` or one of `subwords.SCHEMES`, or one for each language.
        only: the annotation files to take; by default all that are found.
        on_mismatch: `stop` or `skip` if the words of annotation and text differ.
        attach_roots: attaches further roots of a parse to its first one with letters.
        features: columns of the source's CoNLL-U to binarise, too, with commas between.
        target_features: those of the target's, likewise.
        feature_threshold: values of them that the training text has less often are `<unk>`.
        labels: a list of labels, or a folder with such lists, in place of those of the training
            text: folders with the same lists can be trained on together (`data1:data2`).
        counts: a file that gets the labels of the training text, with the number of words of each.
            The folder is then a shard of a corpus, and lists all labels of all its own texts until
            :func:`~syntax_nmt.preparation.corpus_labels.take_labels` knows those of the corpus.
        parsers: what made the annotation files, as far as it is known.
        report: called with each line of the report.

    Returns:
        the written files, by name (`train.de-en.de.heads`).

    Raises:
        UserError: nothing was found, files do not match, or another process writes there.
    """
    destdir = Path(destdir)
    columns = {
        source_lang: check_columns(features, LISTING[SOURCE]),
        target_lang: check_columns(target_features, LISTING[TARGET], TARGET_COLUMNS),
    }
    splits = named_prefixes(trainpref, validpref, testpref)
    texts = [
        find_text_files(
            destdir, split, prefix, lang, (source_lang, target_lang), words,
            (*TEXT_KINDS, *DERIVED_KINDS, *columns[lang]), only,
        )
        for split, prefix in splits
        for lang in (source_lang, target_lang)
    ]  # fmt: skip
    for text in texts if only is None else ():
        report_missing(text, TARGET if text.lang == target_lang else SOURCE, report)
    if not any(text.annotation for text in texts):
        raise UserError(
            "no annotation found: expected "
            f"{' or '.join('.' + kind.ending for kind in TEXT_KINDS)} files such as "
            f"{texts[0].annotation_path(TEXT_KINDS[0])}: make them, or name their folder with "
            "--words"
        )
    given = None if labels is None else Path(labels)
    choices = _Choices(
        subwords,
        workers,
        on_mismatch == SKIP,
        attach_roots,
        feature_threshold,
        given,
        None if counts is None else Path(counts),
        parsers,
    )
    _refuse_missing_columns(columns, texts)
    busy = f"another process binarises into {destdir}: wait for it"
    with folder_lock(destdir, busy):
        for left in destdir.glob(f"{_STAGING}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        return _write_all(destdir, texts, choices, report)


def _refuse_missing_columns(
    columns: Mapping[str, Sequence[Column]], texts: Sequence[BinarisedText]
) -> None:
    """Refuses columns that no annotation file holds, by language."""
    for lang, column in ((lang, column) for lang, every in columns.items() for column in every):
        if not any(column in text.annotation for text in texts):
            if column.format == CONLLU:
                files, way = "dependency trees", "parse the text, or give"
            else:
                files, way = "chunks", "give"
            raise UserError(
                f"{column.making}: there are no {files} of {lang}, which have the columns: {way} "
                f".{column.ending} files"
            )


class _Choices(NamedTuple):
    """Options for reading annotation files."""

    subwords: str | Mapping[str, str]
    workers: int
    skip_mismatched: bool
    attach_roots: bool
    feature_threshold: int
    given: Path | None
    counts: Path | None
    parsers: Mapping[Path, str]


class _ProjectedFile(NamedTuple):
    """By kind the parts of an annotation file and how many words have a label; and the fit."""

    source: AnnotatedText
    parts: dict[AnnotationKind, list[RangeRows]]
    counts: dict[AnnotationKind, Counter[str]]
    fit: AnnotationFit


def _write_all(
    destdir: Path,
    texts: list[BinarisedText],
    choices: _Choices,
    report: Callable[[str], None],
) -> dict[str, AnnotationFile]:
    """Writes into a temporary folder, then moves all files, the manifest last."""
    manifest = read_manifest(destdir)
    given = {} if choices.given is None else given_labels(choices.given, texts)
    known = {**_recorded_labels(texts, destdir, manifest, given), **given}
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=destdir))
    try:
        projected: dict[str, _ProjectedFile] = {}
        with ordered_map(choices.workers) as mapped:
            for text in texts:
                for source in _annotated_texts(text, choices):
                    found = _project(source, staging, mapped, choices)
                    names = (f"{text.tokens.name}.{kind.name}" for kind in source.kinds)
                    projected.update(dict.fromkeys(names, found))
        labels = {**_counted_labels(texts, projected, known, choices), **known}
        lists = []
        for kind in labels:
            if kind in given or kind not in known:
                content = "\n".join([*labels[kind], ""])
                lists.append(staging / str(kind.labels_file))
                lists[-1].write_text(content, encoding="utf-8")
        refuse_two_lists(lists, choices.given, manifest, projected)
        written = {}
        for text in texts:
            for kind in text.annotation:
                name = f"{text.tokens.name}.{kind.name}"
                listed = labels.get(kind, ())
                entry = _write_one(
                    projected[name], kind, staging / name, listed, kind in given, report
                )
                parser = choices.parsers.get(text.annotation[kind], "")
                written[name] = replace(entry, parser=parser)
        write_manifest(staging, {**manifest, **written})
        move_files(staging, destdir)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return written


def move_files(staging: Path, destdir: Path) -> None:
    """Moves the files of one folder to another, the manifest last."""
    for path in sorted(staging.iterdir(), key=lambda path: path.name == MANIFEST):
        os.replace(path, destdir / path.name)


def _annotated_texts(text: BinarisedText, choices: _Choices) -> Iterator[AnnotatedText]:
    """The annotation files of one text, each with all kinds that it holds."""
    schemes = choices.subwords
    scheme = schemes if isinstance(schemes, str) else schemes[text.lang]
    if scheme == "auto" and text.annotation:
        scheme = detect_scheme(read_lines(text.pieces))
    by_file: dict[Path, list[AnnotationKind]] = {}
    for kind, file in text.annotation.items():
        by_file.setdefault(file, []).append(kind)
    for file, kinds in by_file.items():
        annotation = WordAnnotation(file, kinds[0], choices.attach_roots)
        yield AnnotatedText(
            annotation, tuple(kinds), text.pieces, text.words, scheme, text.tokens, text.lang
        )


def _project(
    source: AnnotatedText, folder: Path, mapped: OrderedMap, choices: _Choices
) -> _ProjectedFile:
    """Projects an annotation file, range by range."""
    sentences = len(source.binarised().sizes)
    share = -(-sentences // (2 * choices.workers))
    # The content of a .gz file before a range is read with it: so there are few of them.
    compressed = any(file.suffix == ".gz" for file in (source.annotation.file, source.text))
    ranges = source.ranges(sentences, max(1, share if compressed else min(share, _RANGE)))
    parts: dict[AnnotationKind, list[RangeRows]] = {kind: [] for kind in source.kinds}
    counts: dict[AnnotationKind, Counter[str]] = {kind: Counter() for kind in source.kinds}
    found = _ProjectedFile(source, parts, counts, AnnotationFit())
    name = f"{source.tokens.name}.{source.kinds[0].name}"
    with Progress(None, name, "sentences", sentences) as progress:
        for done in _explained(source, mapped(partial(source.project, folder), ranges)):
            for kind, part in zip(source.kinds, done.parts):
                found.counts[kind].update(part.counts)
                found.parts[kind].append(part.without_counts())
            found.fit.merge(done.fit)
            progress.update(done.fit.sentences)
    if found.fit.mismatched and not choices.skip_mismatched:
        raise found.fit.refusal("or give --on-mismatch skip")
    return found


def _explained(source: AnnotatedText, results: Iterator[Projected]) -> Iterator[Projected]:
    """Yields the results; reports sentences that an annotation file lacks."""
    place = (source.annotation, source.words_of_lines)
    known = False
    try:
        for found in results:
            if found.fit.mismatched and not known:
                known = True
                refuse_shift(*place, found.fit.mismatched[0], source.text)
            yield found
    except EntryCountError:
        refuse_missing(*place, source.text)
        raise


def _recorded_labels(
    texts: Sequence[BinarisedText],
    destdir: Path,
    manifest: dict[str, AnnotationFile],
    given: LabelLists,
) -> LabelLists:
    """The lists of kinds that are neither given nor in the training text."""
    files = {kind: file for text in texts for kind, file in text.annotation.items()}
    training = {kind for text in texts if is_training(text.split) for kind in text.annotation}
    return {
        kind: labels_on_record(kind, file, destdir, manifest)
        for kind, file in files.items()
        if kind.labels_file is not None and kind not in {*training, *given}
    }


def _counted_labels(
    texts: Sequence[BinarisedText],
    projected: Mapping[str, _ProjectedFile],
    known: Container[AnnotationKind],
    choices: _Choices,
) -> LabelLists:
    """The labels of the training text; of all texts if the folder is a shard."""
    training: dict[AnnotationKind, Counter[str]] = {}
    everywhere: dict[AnnotationKind, Counter[str]] = {}
    for text in texts:
        for kind in text.annotation:
            if kind.labels_file is None or kind in known:
                continue
            counts = training.setdefault(kind, Counter())
            found = projected[f"{text.tokens.name}.{kind.name}"].counts[kind]
            if is_training(text.split):
                counts.update(found)
            everywhere.setdefault(kind, Counter()).update(found)
    if choices.counts is None:
        threshold = choices.feature_threshold
        return {kind: tuple(kind.listed(each, threshold)) for kind, each in training.items()}
    LabelCounts(training, everywhere).write(choices.counts)
    return {kind: tuple(kind.ordered(found)) for kind, found in everywhere.items()}


def _write_one(
    projected: _ProjectedFile,
    kind: AnnotationKind,
    prefix: Path,
    labels: Sequence[str],
    given: bool,
    report: Callable[[str], None],
) -> AnnotationFile:
    """Joins the parts of one kind and removes them.

    Args:
        given: whether the labels are, and not counted in the training text.
    """
    source, fit, parts = projected.source, projected.fit, projected.parts[kind]
    rows = (Rows(read_part(part.file), part.labels, part.annotated) for part in parts)
    joined = join_rows(rows, kind, labels, prefix, source.binarised().indexed)
    for part in parts:
        part.file.unlink()
    _report_written(source, prefix.name, joined, fit, report)
    report_labels(prefix.name, kind, joined, given, source.annotation.file, report)
    return AnnotationFile(
        sentences=joined.sentences,
        annotated=joined.annotated,
        source=source.annotation.file.name,
        source_text=Fingerprint.of(source.annotation.file),
        files=_fingerprints(source, kind, prefix),
    )


def _fingerprints(
    source: AnnotatedText, kind: AnnotationKind, prefix: Path
) -> dict[str, Fingerprint]:
    """The files that loading depends on: new files, tokens, dictionary, tag list."""
    paths = [
        path(str(base))
        for base in (prefix, source.tokens)
        for path in (indexed_dataset.data_file_path, indexed_dataset.index_file_path)
    ]
    paths.append(str(source.dictionary))
    if kind.labels_file is not None:
        new = prefix.with_name(kind.labels_file)
        paths.append(str(new if new.is_file() else source.tokens.with_name(new.name)))
    return {Path(path).name: Fingerprint.of(path) for path in paths}


def _report_written(
    source: AnnotatedText,
    name: str,
    joined: Joined,
    fit: AnnotationFit,
    report: Callable[[str], None],
) -> None:
    sentences, skipped = joined.sentences, len(fit.mismatched)
    of_these = f", {skipped} of them skipped as their annotation has other words" if skipped else ""
    report(
        f"{name}: {sentences} sentences from {source.annotation.file}, {joined.annotated} "
        f"annotated, {sentences - joined.annotated} without annotation{of_these} "
        f"({source.scheme} segmentation)"
    )
    for note in fit.notes(source.annotation.file, source.text):
        report(note)
    if skipped:
        report(f"{fit.first} (the first that was skipped)")
