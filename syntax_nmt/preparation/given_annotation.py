"""Annotation next to the raw text, which is used if it fits the words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from syntax_nmt.data.annotation import PREPARED_KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation_transfer import OtherTextError
from syntax_nmt.data.text_files import find_text, read_lines
from syntax_nmt.data.word_annotation import AnnotationFit, WordAnnotation, refuse_shift, zip_checked
from syntax_nmt.preparation.splits import Split
from syntax_nmt.text.languages import SOURCE, TARGET


def find_annotation(
    splits: Iterable[Split], source: str, target: str
) -> dict[tuple[str, AnnotationKind], Path]:
    """The annotation next to raw texts, `PREFIX.LANG.ENDING` with or without `.gz`.

    Returns:
        by the name of the split, and kind.
    """
    files = {
        (split.name, kind): find_text(
            f"{split.prefix}.{source if kind.side == SOURCE else target}.{kind.ending}"
        )
        for split in splits
        for kind in PREPARED_KINDS
    }
    return {of: path for of, path in files.items() if path is not None}


def unused_annotation(splits: Iterable[Split], source: str, target: str) -> Iterator[str]:
    """Warnings of annotation next to raw text whose name is wrong."""
    used = {(kind.ending, kind.side) for kind in PREPARED_KINDS}
    for split in splits:
        for kind in TEXT_KINDS:
            lang, other = (source, target) if kind.side == SOURCE else (target, source)
            other_side = TARGET if kind.side == SOURCE else SOURCE
            nameless = find_text(f"{split.prefix}.{kind.ending}")
            if nameless is not None:
                named = f"{split.prefix}.{lang}.{kind.ending}"
                yield f"{nameless} is not used: its name lacks the language: call it {named}"
            file = find_text(f"{split.prefix}.{other}.{kind.ending}")
            if file is not None and (kind.ending, other_side) not in used:
                yield f"{file} is not used: it would be {kind.description}, which is {lang}"


@dataclass(frozen=True)
class GivenAnnotation:
    """An annotation and its text.

    Attributes:
        annotation: the file.
        words: the text.
    """

    annotation: WordAnnotation
    words: Path

    def fit(self, out: TextIO | None = None) -> AnnotationFit:
        """Reads all of it in parallel with the text; every malformed entry is an error.

        Args:
            out: gets the annotation of the text's words: entries of the same words as they are, and
                none for a sentence whose annotation has other words.

        Raises:
            UserError: an entry is malformed, or there are too many or too few.
        """
        kind, fit = self.annotation.kind, AnnotationFit()
        streams: dict[str, Iterator[Any]] = {
            str(self.annotation.file): self.annotation.entries(),
            str(self.words): self._lines(),
        }
        for number, ((place, entry), words) in zip_checked(streams):
            text = kind.format.entry_text(entry)
            try:
                carried = kind.format.read(entry, words, place, f"{self.words}:{number}")
                fit.add(carried, len(words))
                if carried is not None and carried.realigned:
                    text = kind.format.write(carried.annotation, words)
            except OtherTextError as error:
                if not fit.mismatched:
                    refuse_shift(self.annotation, self._lines, number, self.words)
                fit.add_mismatch(number, error)
                text = kind.format.write(None, words)
            if out is not None:
                out.write(text)
        return fit

    def _lines(self) -> Iterator[list[str]]:
        return (line.split() for line in read_lines(self.words))
