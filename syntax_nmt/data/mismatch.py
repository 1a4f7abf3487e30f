"""Annotation of other words than the text's: what is found, what is said, what is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation_text import annotation_entries
from syntax_nmt.data.annotation_transfer import Transferred
from syntax_nmt.data.text_match import OtherTextError
from syntax_nmt.errors import UserError

STOP, SKIP = "stop", "skip"
ON_MISMATCH_HELP = (
    "what to do where annotation is of other words than the text's, after alignment by characters: "
    "stop, or skip (those sentences have no annotation)"
)
ATTACH_ROOTS_HELP = "where a parse has several roots, the others depend on the first"
_LOOKED_AHEAD = 20
_Lines = Callable[[], Iterator[Sequence[str]]]


@dataclass
class AnnotationFit:
    """How the annotation of a text fits it.

    Attributes:
        sentences: of the text.
        bridged: sentences of another tokenisation that were carried over.
        torn: sentences among these in which something was lost: a token covers words that are no
            subtree.
        mismatched: numbers of the sentences whose annotation is of other words, from 1.
        first: where the first of these is, its number, and what is wrong with it.
    """

    sentences: int = 0
    bridged: int = 0
    torn: int = 0
    mismatched: list[int] = field(default_factory=list)
    first: str = ""

    def add(self, found: Transferred[Any] | None) -> None:
        """Counts a sentence that fits, or has no annotation."""
        self.sentences += 1
        if found is not None:
            self.bridged += found.bridged
            self.torn += found.torn > 0

    def add_mismatch(self, number: int, error: OtherTextError) -> None:
        """Counts a sentence whose annotation is of other words.

        Args:
            number: of the sentence, from 1.
            error: that says so.
        """
        self.sentences += 1
        self.mismatched.append(number)
        self.first = self.first or f"{error.where}: sentence {number:,}: {error.detail}"

    def merge(self, other: AnnotationFit) -> None:
        """Adds those of the sentences that follow."""
        self.sentences += other.sentences
        self.bridged += other.bridged
        self.torn += other.torn
        self.mismatched += other.mismatched
        self.first = self.first or other.first

    def note(self, file: Path) -> str:
        """What a user should know; empty where all is over the text's words."""
        if not self.bridged:
            return ""
        torn = ""
        if self.torn:
            torn = f"; in {self.torn:,} of them a token covers words that are no subtree"
        return (
            f"{file}: {self.bridged:,} of {self.sentences:,} sentences have the text's "
            f"characters in other words, and were carried over{torn}"
        )

    def refusal(self, remedy: str) -> UserError:
        """The error for annotation of other words, told once.

        Args:
            remedy: what to do, besides annotating this text.
        """
        return UserError(
            f"{self.first} ({len(self.mismatched):,} of {self.sentences:,} sentences have other "
            f"words): annotate this very text, one entry a sentence, {remedy}"
        )


def refuse_shift(
    file: Path,
    kind: AnnotationKind,
    lines: _Lines,
    number: int,
    text: Path,
    attach_roots: bool = False,
) -> None:
    """Finds out whether a sentence's annotation is that of one nearby: a sentence is missing.

    Everything behind would be of other words, which no policy is meant for. Chunks do not tell:
    their files have no words.

    Args:
        lines: the words of the text from its beginning.
        number: the first sentence whose annotation is of other words, from 1.
        text: the text's file, for the message.
        attach_roots: see :func:`~syntax_nmt.data.annotation_text.annotation_entries`.

    Raises:
        UserError: the annotation continues with another sentence; names it.
    """
    if not kind.has_words:
        return
    all_entries = annotation_entries(file, kind, attach_roots)
    entries = list(islice(all_entries, number - 1, number + _LOOKED_AHEAD))
    sentences = list(islice(lines(), number - 1, number + _LOOKED_AHEAD))
    if not entries:
        return

    def fits(entry: int, sentence: int, without: bool) -> bool:
        """Whether an entry is that of a sentence; `without`: what to say of one without words."""
        place, found = entries[entry]
        try:
            return kind.read(found, sentences[sentence], place, "") is not None or without
        except UserError:
            return False

    def goes_on(entry: int, sentence: int) -> bool:
        ends = entry + 1 >= len(entries) or sentence + 1 >= len(sentences)
        return fits(entry, sentence, False) and (ends or fits(entry + 1, sentence + 1, True))

    where = entries[0][0]
    for ahead in range(1, len(sentences)):
        if goes_on(0, ahead):
            raise UserError(
                f"{where}: {_listed(number, ahead)} missing here ({text}): this is the annotation "
                f"of sentence {number + ahead:,} ({' '.join(sentences[ahead][:8])!r} …): a "
                f"sentence without annotation has {kind.empty_entry}"
            )
    for ahead in range(1, len(entries)):
        if sentences and goes_on(ahead, 0):
            raise UserError(
                f"{where}: {ahead} {'entry' if ahead == 1 else 'entries'} too many: the annotation "
                f"of sentence {number:,} of {text} is at line {entries[ahead][0].line}: remove "
                f"what stands before it"
            )


def refuse_missing(
    file: Path, kind: AnnotationKind, lines: _Lines, text: Path, attach_roots: bool = False
) -> None:
    """Finds out which sentence is missing where an annotation has too few entries, or too many.

    Args:
        lines: the words of the text from its beginning.
        text: the text's file, for the message.
        attach_roots: see :func:`~syntax_nmt.data.annotation_text.annotation_entries`.

    Raises:
        UserError: an entry is missing or too many before the end; names it.
    """
    entries = annotation_entries(file, kind, attach_roots)
    for number, ((place, entry), words) in enumerate(zip(entries, lines()), start=1):
        try:
            kind.read(entry, words, place, f"{text}:{number}")
        except OtherTextError:
            refuse_shift(file, kind, lines, number, text, attach_roots)
            return


def _listed(number: int, count: int) -> str:
    if count == 1:
        return f"sentence {number:,} is"
    return f"sentences {number:,} to {number + count - 1:,} are"
