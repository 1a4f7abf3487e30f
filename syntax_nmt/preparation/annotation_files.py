"""Annotation next to the raw text, which is used if it fits the words."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from syntax_nmt.data.annotation import PREPARED_KINDS, TEXT_KINDS
from syntax_nmt.data.annotation.kind import SOURCE, TARGET, AnnotationKind
from syntax_nmt.data.annotation_transfer import OtherTextError, Transferred
from syntax_nmt.data.mismatch import AnnotationFit, annotation_entries, in_step, refuse_shift
from syntax_nmt.data.text_files import find_text, open_text, read_lines, write_atomically
from syntax_nmt.preparation.splits import Split

_Check = Callable[[], "Transferred[Any] | None"]


def find_annotation_file(raw_prefix: str, lang: str, kind: AnnotationKind) -> Path | None:
    """The annotation next to a raw text, `PREFIX.LANG.ENDING` with or without `.gz`.

    Args:
        raw_prefix: path of the raw text up to the language.
        lang: language code.
    """
    return find_text(f"{raw_prefix}.{lang}.{kind.ending}")


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
            file = find_annotation_file(split.prefix, other, kind)
            if file is not None and (kind.ending, other_side) not in used:
                yield f"{file} is not used: it would be {kind.description}, which is {lang}"


@dataclass(frozen=True)
class GivenAnnotation:
    """An annotation and its text.

    Attributes:
        file: the annotation.
        kind: of the annotation.
        words: the text.
        attach_roots: see :func:`~syntax_nmt.data.mismatch.annotation_entries`.
    """

    file: Path
    kind: AnnotationKind
    words: Path
    attach_roots: bool = False

    def check(self) -> AnnotationFit:
        """Reads all of it in parallel with the text; every malformed entry is an error.

        Raises:
            UserError: an entry is malformed, or there are too many or too few.
        """
        findings = AnnotationFit()
        place = (self.file, self.kind, self._lines)
        for number, _, words, check in self._sentences():
            try:
                findings.add(check(), len(words))
            except OtherTextError as error:
                if not findings.mismatched:
                    refuse_shift(*place, number, self.words, self.attach_roots)
                findings.add_mismatch(number, error)
        return findings

    def write(self, destination: Path) -> None:
        """Writes it for the words of the text; annotation of the same words does not change.

        A sentence whose annotation has other words gets none.

        Args:
            destination: the new file, which appears only when it is complete.
        """
        with write_atomically(destination) as out:
            for _, entry, words, check in self._sentences():
                try:
                    found = check()
                except OtherTextError:
                    out.write(self.kind.format(None, words))
                    continue
                if found is not None and found.bridged:
                    out.write(self.kind.format(found.annotation, words))
                else:
                    out.write(self.kind.entry_text(entry))

    def _lines(self) -> Iterator[list[str]]:
        return (line.split() for line in read_lines(self.words))

    def _sentences(self) -> Iterator[tuple[int, Any, list[str], _Check]]:
        """Number, entry, words, and what checks the entry, of each sentence."""
        streams: dict[str, Iterator[Any]] = {
            str(self.file): annotation_entries(self.file, self.kind, self.attach_roots),
            str(self.words): self._lines(),
        }
        for number, ((place, entry), words) in in_step(streams):
            check = partial(self.kind.read, entry, words, place, f"{self.words}:{number}")
            yield number, entry, words, check


def copy_annotation_file(file: Path, destination: Path) -> None:
    """Copies an annotation, decompressed.

    Args:
        file: the file, plain or `.gz`.
        destination: the new file, which appears only when it is complete.
    """
    with open_text(file) as source, write_atomically(destination) as out:
        shutil.copyfileobj(source, out)
