"""Sentences whose given annotation is of other words, annotated by a parser instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.text_files import write_atomically
from syntax_nmt.preparation.annotation.annotate import Resources, annotate_file
from syntax_nmt.preparation.annotation.annotator import StanzaAnnotator
from syntax_nmt.preparation.annotation.parts import PartFolder
from syntax_nmt.preparation.annotation_files import GivenAnnotation, entry_texts


@contextmanager
def annotated_anew(
    given: GivenAnnotation,
    numbers: Sequence[int],
    annotator: StanzaAnnotator,
    resources: Resources,
) -> Iterator[Iterator[str]]:
    """The entries of some sentences as a parser makes them; resumable, like all annotation.

    Args:
        numbers: of the sentences, from 1, in order.
        annotator: what annotates.
        resources: what the work runs on.
    """
    text, output = _files(given.words, given.kind)
    with write_atomically(text) as out:
        out.writelines(" ".join(words) + "\n" for words in given.sentences(numbers))
    annotate_file(text, output, annotator, resources)
    try:
        yield entry_texts(output, given.kind)
    finally:
        remove_unfinished(given.words, given.kind)


def remove_unfinished(words: Path, kind: AnnotationKind) -> None:
    """Removes what an interrupted :func:`annotated_anew` left, once nothing will resume it."""
    text, output = _files(words, kind)
    parts = PartFolder(output)
    if parts.path.is_dir():
        parts.remove()
    for path in (text, output):
        path.unlink(missing_ok=True)


def _files(words: Path, kind: AnnotationKind) -> tuple[Path, Path]:
    """The sentences, and their annotation."""
    text = Path(f"{words}.mismatched")
    return text, Path(f"{text}.{kind.ending}")
