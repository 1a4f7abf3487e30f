"""`syntax-nmt binarize`: adds annotation to a data-bin folder of fairseq-preprocess."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from fairseq.data import indexed_dataset

from syntax_nmt.data.annotation import DERIVED_KINDS, KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.columns import check_columns
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.data_bin import load_dictionary
from syntax_nmt.data.folder_lock import folder_lock
from syntax_nmt.data.manifest import NAME as MANIFEST
from syntax_nmt.data.manifest import AnnotationFile, Fingerprint, read_manifest, write_manifest
from syntax_nmt.data.projection import NO_ANNOTATION
from syntax_nmt.data.ragged import RaggedWriter, open_indexed
from syntax_nmt.data.sentence_projection import BinarisedPieces, LabelCounts, Projected, Projector
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
from syntax_nmt.preparation.label_lists import (
    LabelLists,
    given_labels,
    labels_on_record,
    refuse_two_lists,
)
from syntax_nmt.preparation.splits import named_prefixes
from syntax_nmt.progress import Progress
from syntax_nmt.text.languages import SOURCE, TARGET

FEATURE_THRESHOLD = 2
_FEW_KNOWN = 0.1  # smaller shares of values that training has are reported
_STAGING = ".binarize-"  # prefix of the folder of incomplete files

_OfBatch = TypeVar("_OfBatch", Projected, LabelCounts)


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
    feature_threshold: int = FEATURE_THRESHOLD,
    labels: str | Path | None = None,
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
        attach_roots: attaches further roots of a parse to its first word.
        features: columns of the source's CoNLL-U to binarise, too, with commas between.
        feature_threshold: values of them that the training text has less often are `<unk>`.
        labels: a list of labels, or a folder with such lists, in place of those of the training
            text: folders with the same lists can be trained on together (`data1:data2`).
        report: called with each line of the report.

    Returns:
        the written files, by name (`train.de-en.de.heads`).

    Raises:
        UserError: nothing was found, files do not match, or another process writes there.
    """
    destdir = Path(destdir)
    columns = check_columns(features, "--features")
    splits = named_prefixes(trainpref, validpref, testpref)
    texts = [
        find_text_files(
            destdir, split, prefix, lang, (source_lang, target_lang), words,
            (*TEXT_KINDS, *DERIVED_KINDS, *(() if lang == target_lang else columns)), only,
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
    lists = {} if given is None else given_labels(given, texts)
    skips = on_mismatch == SKIP
    choices = _Choices(subwords, workers, skips, attach_roots, feature_threshold, given, lists)
    if columns and not any(columns[0] in text.annotation for text in texts):
        raise UserError(
            f"--features {features}: there are no dependency trees of {source_lang}, which have "
            "them: parse the text, or give .conllu files"
        )
    busy = f"another process binarises into {destdir}: wait for it"
    with folder_lock(destdir, busy):
        for left in destdir.glob(f"{_STAGING}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        return _write_all(destdir, texts, choices, report)


class _Choices(NamedTuple):
    """Options for reading annotation files."""

    subwords: str | Mapping[str, str]
    workers: int
    skip_mismatched: bool
    attach_roots: bool
    feature_threshold: int
    given: Path | None
    lists: LabelLists


def _write_all(
    destdir: Path,
    texts: list[BinarisedText],
    choices: _Choices,
    report: Callable[[str], None],
) -> dict[str, AnnotationFile]:
    """Writes into a temporary folder, then moves all files, the manifest last."""
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=destdir))
    try:
        written = {}
        with ordered_map(choices.workers) as mapped:
            labels = {
                kind: _labels(kind, texts, destdir, staging, choices, mapped) for kind in KINDS
            }
            for text in texts:
                for projector in _projectors(text, choices, labels):
                    name = f"{text.tokens.name}.{projector.kind.name}"
                    written[name] = _write_one(projector, staging / name, mapped, choices, report)
        write_manifest(staging, {**read_manifest(destdir), **written})
        for path in sorted(staging.iterdir(), key=lambda path: path.name == MANIFEST):
            os.replace(path, destdir / path.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return written


def _projectors(
    text: BinarisedText, choices: _Choices, labels: Mapping[AnnotationKind, Sequence[str]]
) -> Iterator[Projector]:
    """The projectors of one text, one per annotation file."""
    for kind in text.annotation:
        yield _projector(text, kind, choices, labels[kind])


def _projector(
    text: BinarisedText, kind: AnnotationKind, choices: _Choices, labels: Sequence[str] = ()
) -> Projector:
    schemes = choices.subwords
    scheme = schemes if isinstance(schemes, str) else schemes[text.lang]
    if scheme == "auto":
        scheme = detect_scheme(read_lines(text.pieces))
    annotation = WordAnnotation(text.annotation[kind], kind, choices.attach_roots)
    ids = {label: number for number, label in enumerate(labels, start=1)}
    return Projector(annotation, text.pieces, text.words, scheme, text.tokens, text.lang, ids)


def _labels(
    kind: AnnotationKind,
    texts: Sequence[BinarisedText],
    destdir: Path,
    staging: Path,
    choices: _Choices,
    mapped: OrderedMap,
) -> tuple[str, ...]:
    """The given labels or those of the training text, written to a file; or those on record."""
    annotated = [text for text in texts if kind in text.annotation]
    if kind.labels_file is None or not annotated:
        return ()
    training = [text for text in annotated if text.split.startswith("train")]
    file = staging / kind.labels_file
    if kind in choices.lists:
        labels: Sequence[str] = choices.lists[kind]
    elif training:
        counts: Counter[str] = Counter()
        for text in training:
            counts.update(_label_counts(_projector(text, kind, choices), mapped, choices))
        labels = kind.listed(counts, choices.feature_threshold)
    else:
        found = annotated[0].annotation[kind]
        return labels_on_record(kind, found, destdir, read_manifest(destdir))
    file.write_text("\n".join([*labels, ""]), encoding="utf-8")
    if choices.given is not None and kind in choices.lists:
        made_anew = {f"{text.tokens.name}.{kind.name}" for text in annotated}
        refuse_two_lists(file, choices.given, read_manifest(destdir), made_anew)
    return tuple(labels)


def _label_counts(projector: Projector, mapped: OrderedMap, choices: _Choices) -> Counter[str]:
    """How often the words of a text have each label: those of its tokens, not of its annotation."""
    sizes, _ = _open_tokens(projector)
    counts: Counter[str] = Counter()
    fit = AnnotationFit()
    for found in _explained(projector, mapped(projector.labels, projector.batches(sizes))):
        counts.update(found.counts)
        fit.merge(found.fit)
    _refuse_mismatches(fit, choices.skip_mismatched)
    return counts


def _refuse_mismatches(fit: AnnotationFit, skip_mismatched: bool) -> None:
    if fit.mismatched and not skip_mismatched:
        raise fit.refusal("or give --on-mismatch skip")


def _write_one(
    projector: Projector,
    prefix: Path,
    mapped: OrderedMap,
    choices: _Choices,
    report: Callable[[str], None],
) -> AnnotationFile:
    sizes, binarised = _open_tokens(projector)
    writer = RaggedWriter(prefix)
    annotated = known = total = 0
    unseen: Counter[str] = Counter()
    fit = AnnotationFit()
    with Progress(None, prefix.name, "sentences", len(sizes)) as progress:
        batches = projector.batches(sizes, binarised)
        for projected in _explained(projector, mapped(projector.project, batches)):
            for row in np.split(projected.values, np.cumsum(projected.sizes)[:-1]):
                writer.add(row)
            annotated += projected.annotated
            known += projector.kind.known_values(projected.values, len(projector.label_ids))
            total += int((projected.values != NO_ANNOTATION).sum())
            unseen.update(projected.unseen_labels)
            fit.merge(projected.fit)
            progress.update(len(projected.sizes))
    writer.close()
    _refuse_mismatches(fit, choices.skip_mismatched)
    _report_written(projector, prefix.name, annotated, fit, report)
    if unseen:
        listed = ", ".join(f"{tag} in {count}" for tag, count in sorted(unseen.items()))
        given = projector.kind in choices.lists
        report(
            f"{prefix.name}: sentences with {projector.kind.label}s that "
            f"{projector.kind.labels_file if given else 'the training text'} does not have "
            f"count as not annotated ({listed})"
        )
    if known < total * _FEW_KNOWN:
        report(
            f"{prefix.name}: only {known} of {total} subwords have a {projector.kind.label} that "
            f"the training text has, so that models are told little: annotate "
            f"{projector.annotation.file} as the training text was"
        )
    return AnnotationFile(
        sentences=len(sizes),
        annotated=annotated,
        source=projector.annotation.file.name,
        source_text=Fingerprint.of(projector.annotation.file),
        files=_fingerprints(projector, prefix),
    )


def _explained(projector: Projector, results: Iterator[_OfBatch]) -> Iterator[_OfBatch]:
    """Yields the results; reports sentences that an annotation file lacks."""
    place = (projector.annotation, projector.words_of_lines)
    text = projector.words or projector.pieces
    known = False
    try:
        for found in results:
            if found.fit.mismatched and not known:
                known = True
                refuse_shift(*place, found.fit.mismatched[0], text)
            yield found
    except EntryCountError:
        refuse_missing(*place, text)
        raise


def _open_tokens(projector: Projector) -> tuple[np.ndarray, BinarisedPieces]:
    """Length of each binarised sentence, EOS included, (sentences,); and the tokens themselves."""
    tokens = projector.tokens
    try:
        indexed = open_indexed(tokens, shortest=1)
    except (OSError, ValueError) as error:
        raise UserError(f"{error}: run fairseq-preprocess again") from error
    dictionary = load_dictionary(projector.dictionary)
    if len(indexed.values) and int(indexed.values.max()) >= len(dictionary):
        raise UserError(
            f"{projector.dictionary}: {len(dictionary)} entries, but {tokens}.bin has token "
            f"{int(indexed.values.max())}: run fairseq-preprocess again"
        )
    return indexed.sizes, BinarisedPieces(tokens, indexed, dictionary, projector.pieces)


def _fingerprints(projector: Projector, prefix: Path) -> dict[str, Fingerprint]:
    """The files that loading depends on: new files, tokens, dictionary, tag list."""
    paths = [
        path(str(base))
        for base in (prefix, projector.tokens)
        for path in (indexed_dataset.data_file_path, indexed_dataset.index_file_path)
    ]
    paths.append(str(projector.dictionary))
    if projector.kind.labels_file is not None:
        new = prefix.with_name(projector.kind.labels_file)
        paths.append(str(new if new.is_file() else projector.tokens.with_name(new.name)))
    return {Path(path).name: Fingerprint.of(path) for path in paths}


def _report_written(
    projector: Projector,
    name: str,
    annotated: int,
    fit: AnnotationFit,
    report: Callable[[str], None],
) -> None:
    sentences, skipped = fit.sentences, len(fit.mismatched)
    of_these = f", {skipped} of these skipped as of other words" if skipped else ""
    report(
        f"{name}: {sentences} sentences from {projector.annotation.file}, {annotated} annotated, "
        f"{sentences - annotated} without annotation{of_these} ({projector.scheme} segmentation)"
    )
    for note in fit.notes(projector.annotation.file, projector.words or projector.pieces):
        report(note)
    if skipped:
        report(f"{fit.first} (the first that was skipped)")
