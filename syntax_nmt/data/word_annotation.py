"""Annotation files read in parallel with their text: what to do where they do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from syntax_nmt.data.annotation import HEADS
from syntax_nmt.data.annotation.formats import Place
from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation_transfer import OtherTextError, Transferred
from syntax_nmt.data.file_ranges import BEGINNING, Start
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError


class EntryCountError(UserError):
    """Files that belong together have different numbers of sentences."""


@dataclass(frozen=True)
class WordAnnotation:
    """An annotation file at word level, and how it is read.

    Attributes:
        file: plain or `.gz`.
        kind: of the annotation.
        attach_roots: attaches further roots of a parse to its first one with letters.
    """

    file: Path
    kind: AnnotationKind
    attach_roots: bool = False

    def entries(self, start: Start = BEGINNING) -> Iterator[tuple[Place, Any]]:
        """The raw entries.

        Args:
            start: of the entry to begin with.
        """
        for line, entry in self.kind.format.entries(read_lines(self.file, start.position)):
            place = Place(self.file, start.line - 1 + line)
            yield place, self.kind.format.attach_roots(entry) if self.attach_roots else entry

    def annotations(self) -> Iterator[Any]:
        """What the entries hold, over the words of the file; None where a sentence has none.

        Raises:
            UserError: an entry is malformed; names file and line.
        """
        return (self.kind.format.parse(entry, place) for place, entry in self.entries())


def check_attaches_roots(file: Path, kind: AnnotationKind, attach_roots: bool) -> None:
    """Raises a :class:`UserError` where `--attach-roots` is given for one file, without roots."""
    if attach_roots and kind is not HEADS:
        raise UserError(f"{file}: has no roots to attach: leave --attach-roots out")


def zip_checked(streams: Mapping[str, Iterator[Any]]) -> Iterator[tuple[int, tuple]]:
    """The entries of several files in parallel: (1-based number, one entry of each file).

    Args:
        streams: the content of each file, by its name; no entry is None.

    Raises:
        EntryCountError: the files have different numbers of entries.
    """
    for number, row in enumerate(zip_longest(*streams.values()), start=1):
        if None in row:
            raise _count_error(number, row, streams)
        yield number, row


def _count_error(number: int, row: tuple, streams: Mapping[str, Iterator[Any]]) -> EntryCountError:
    """Reports the number of sentences of each file; reads the longer ones to their ends."""
    counts = {}
    for item, (name, stream) in zip(row, streams.items()):
        ended = item is None
        counts[name] = number - 1 if ended else number + sum(1 for _ in stream)
    shortest = min(counts, key=counts.__getitem__)
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return EntryCountError(
        f"{shortest}: sentence {number:,}: the file ends before the others (sentences: {listed}): "
        "they must have one entry a sentence; a sentence without annotation keeps an empty one"
    )


STOP, SKIP = "stop", "skip"
# Of the words of PUD and EWT under three tokenisers, 0.02 to 0.6 % are untokenised in gold
# annotation, 11 to 98 % in that of words between spaces.
_UNTOKENISED_SHARE = 0.05
_LOOKED_AHEAD = 20
_Lines = Callable[[], Iterator[Sequence[str]]]


@dataclass
class AnnotationFit:
    """How the annotation fits its text.

    Attributes:
        sentences: of the text.
        realigned: sentences transferred from another tokenisation.
        non_constituent: those of them that lost annotation, because a token covers words that form
            no subtree.
        words: of the annotated sentences of the text.
        untokenised: those of them that only continue a word of annotation with punctuation at an
            end.
        mismatched: numbers of the sentences whose annotation has other words, from 1.
        first: position, number and error of the first of these.
    """

    sentences: int = 0
    realigned: int = 0
    non_constituent: int = 0
    words: int = 0
    untokenised: int = 0
    mismatched: list[int] = field(default_factory=list)
    first: str = ""

    def add(self, found: Transferred[Any] | None, words: int) -> None:
        """Counts a sentence that fits, or has no annotation.

        Args:
            words: of the sentence in the text.
        """
        self.sentences += 1
        if found is not None:
            self.realigned += found.realigned
            self.non_constituent += found.non_constituent > 0
            self.words += words
            self.untokenised += found.untokenised

    def add_mismatch(self, number: int, error: OtherTextError) -> None:
        """Counts a sentence whose annotation has other words.

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
        self.realigned += other.realigned
        self.non_constituent += other.non_constituent
        self.words += other.words
        self.untokenised += other.untokenised
        self.mismatched += other.mismatched
        self.first = self.first or other.first

    def notes(self, file: Path, text: Path) -> Iterator[str]:
        """What to tell the user; nothing if all annotation has the text's words.

        Args:
            file: of the annotation, for messages.
        """
        if not self.realigned:
            return
        lost = ""
        if self.non_constituent:
            count = f"{self.non_constituent:,} of them"
            lost = f"; in {count} a token covers words that form no subtree, and annotation is lost"
        yield (
            f"{file}: {self.realigned:,} of {self.sentences:,} sentences are tokenised "
            f"differently, and were transferred by their characters{lost}"
        )
        if self.untokenised > _UNTOKENISED_SHARE * self.words:
            yield (
                f"{file}: {self.untokenised:,} of {self.words:,} words of the text only continue "
                f"an annotated word, as ',' would continue 'mode,': the text was annotated before "
                f"it was tokenised: annotate {text}, and replace this file by the result"
            )

    def refusal(self, remedy: str) -> UserError:
        """The error for annotation with other words, raised once.

        Args:
            remedy: what else to do than annotating this text.
        """
        return UserError(
            f"{self.first} ({len(self.mismatched):,} of {self.sentences:,} sentences have other "
            f"words): annotate this very text, one entry a sentence, {remedy}"
        )


def refuse_shift(annotation: WordAnnotation, lines: _Lines, number: int, text: Path) -> None:
    """Checks whether a sentence's annotation is that of a nearby one, because a sentence is
    missing.

    All later annotation would then have other words, and no policy applies. Chunks cannot be
    checked: their files have no words.

    Args:
        lines: the words of the text from its first line.
        number: the first sentence whose annotation has other words, from 1.
        text: the text's file, for the message.

    Raises:
        UserError: the annotation continues with another sentence; names it.
    """
    kind = annotation.kind
    if not kind.format.has_words:
        return
    entries = list(islice(annotation.entries(), number - 1, number + _LOOKED_AHEAD))
    sentences = list(islice(lines(), number - 1, number + _LOOKED_AHEAD))
    if not entries:
        return

    def fits(entry: int, sentence: int, without: bool) -> bool:
        """Whether an entry is that of a sentence; `without`: what to say of one without words."""
        place, found = entries[entry]
        try:
            return kind.format.read(found, sentences[sentence], place, "") is not None or without
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
                f"of sentence {number + ahead:,} ({' '.join(sentences[ahead][:8])!r} …): put "
                f"it there; a sentence without annotation has {kind.format.empty_entry}"
            )
    for ahead in range(1, len(entries)):
        if sentences and goes_on(ahead, 0):
            raise UserError(
                f"{where}: {ahead} {'entry' if ahead == 1 else 'entries'} too many: the annotation "
                f"of sentence {number:,} of {text} is at line {entries[ahead][0].line}: remove "
                f"what stands before it"
            )


def refuse_missing(annotation: WordAnnotation, lines: _Lines, text: Path) -> None:
    """Finds the missing or additional sentence if an annotation has too few or too many entries.

    Args:
        lines: the words of the text from its first line.
        text: the text's file, for the message.

    Raises:
        UserError: an entry is missing or too many before the end; names it.
    """
    entries = annotation.entries()
    for number, ((place, entry), words) in enumerate(zip(entries, lines()), start=1):
        try:
            annotation.kind.format.read(entry, words, place, f"{text}:{number}")
        except OtherTextError:
            refuse_shift(annotation, lines, number, text)
            return


def _listed(number: int, count: int) -> str:
    if count == 1:
        return f"sentence {number:,} is"
    return f"sentences {number:,} to {number + count - 1:,} are"
