"""The formats of annotation files: CoNLL-U, bracketed trees, lines of chunk tags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from syntax_nmt.data import constituents
from syntax_nmt.data.annotation_transfer import (
    OtherTextError,
    Transferred,
    of_this_text,
    transfer_constituents,
    transfer_dependencies,
)
from syntax_nmt.data.chunks import Chunk, iob2_tags, parse_chunks
from syntax_nmt.data.conllu import (
    attach_roots,
    block_starts,
    conllu_blocks,
    format_no_parse,
    format_tree,
    parse_block,
)
from syntax_nmt.data.constituents import ConstituentTree, parse_tree
from syntax_nmt.data.dependency_tree import DependencyTree


class Place(NamedTuple):
    """The position of an entry, for messages: file and 1-based line."""

    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class AnnotationFormat(ABC):
    """A format of annotation files, which have an entry for each sentence, over its words.

    Attributes:
        ending: of the files, `train.de.ENDING`.
        has_words: whether an entry contains the words.
        empty_entry: of a sentence without annotation, for messages.
    """

    ending: str
    has_words: bool = True
    empty_entry: str

    def entries(self, lines: Iterator[str]) -> Iterator[tuple[int, Any]]:
        """The entries of a file, each with the 1-based number of its first line."""
        return enumerate(lines, start=1)

    def starts(self, lines: Iterator[bytes]) -> Iterator[int]:
        """The position, from 0, of the line in which each entry of a file begins, as soon as the
        line is taken."""
        return (number for number, _ in enumerate(lines))

    @abstractmethod
    def parse(self, entry: Any, place: Place) -> Any:
        """The annotation in an entry; None where the sentence has none.

        Args:
            entry: of :meth:`entries`.

        Raises:
            UserError: the entry is malformed; names file and line.
        """

    @abstractmethod
    def transfer(
        self, annotation: Any, words: Sequence[str], place: Place, corpus: str
    ) -> Transferred[Any] | None:
        """The annotation, transferred to the words of the corpus; None if neither has characters.

        Args:
            annotation: of :meth:`parse`.
            words: the words of the corpus line.
            place: file and line of the annotation.
            corpus: file and line of the corpus.

        Raises:
            OtherTextError: it is of other words; names both places.
        """

    def read(
        self, entry: Any, words: Sequence[str], place: Place, corpus: str
    ) -> Transferred[Any] | None:
        """:meth:`parse` and :meth:`transfer` in one; None where the sentence has no annotation."""
        found = self.parse(entry, place)
        return None if found is None else self.transfer(found, words, place, corpus)

    @abstractmethod
    def write(self, annotation: Any, words: Sequence[str]) -> str:
        """The entry of a file, its line end included.

        Args:
            annotation: over the words; None = none.
            words: the words of the corpus line.
        """

    def entry_text(self, entry: Any) -> str:
        """An entry as it stands in a file, its line end included."""
        return f"{entry}\n"

    def attach_roots(self, entry: Any) -> Any:
        """The entry with further roots, if there are any, attached to the first."""
        return entry

    def of_analysis(self, analysis: Any) -> Any:
        """The annotation in a parser's analysis of a sentence; None if it has none."""
        return analysis


class _Conllu(AnnotationFormat):
    """Dependency trees, and columns of CoNLL-U beside them."""

    ending = "conllu"
    empty_entry = "a block with '# parse = none'"

    def entries(self, lines: Iterator[str]) -> Iterator[tuple[int, Any]]:
        """The sentences of a CoNLL-U file."""
        return conllu_blocks(lines)

    def starts(self, lines: Iterator[bytes]) -> Iterator[int]:
        """See :func:`~syntax_nmt.data.conllu.block_starts`."""
        return block_starts(lines)

    def parse(self, entry: Any, place: Place) -> DependencyTree | None:
        """The tree of a block."""
        return parse_block(entry, str(place.file), place.line)

    def transfer(
        self, annotation: DependencyTree, words: Sequence[str], place: Place, corpus: str
    ) -> Transferred[DependencyTree] | None:
        """See :func:`~syntax_nmt.data.annotation_transfer.transfer_dependencies`."""
        found = transfer_dependencies(annotation, words)
        if found is not None:
            return found
        forms = [span.form for span in annotation.surface_spans()]  # for the message alone
        return of_this_text(None, forms, words, str(place), corpus)

    def write(self, annotation: DependencyTree | None, words: Sequence[str]) -> str:
        """A block of CoNLL-U."""
        return format_no_parse(words) if annotation is None else format_tree(words, annotation)

    def entry_text(self, entry: Sequence[str]) -> str:
        """The lines of a block and a blank one."""
        return "".join(f"{line}\n" for line in [*entry, ""])

    def attach_roots(self, entry: Sequence[str]) -> list[str]:
        """See :func:`~syntax_nmt.data.conllu.attach_roots`."""
        return attach_roots(entry)


class _Bracketed(AnnotationFormat):
    """Constituency trees, one a line."""

    ending = "trees"
    empty_entry = "the line '()'"

    def parse(self, entry: str, place: Place) -> ConstituentTree | None:
        """The tree of a line."""
        return parse_tree(entry, str(place.file), place.line)

    def transfer(
        self, annotation: ConstituentTree, words: Sequence[str], place: Place, corpus: str
    ) -> Transferred[ConstituentTree] | None:
        """See :func:`~syntax_nmt.data.annotation_transfer.transfer_constituents`."""
        found = transfer_constituents(annotation, words)
        return of_this_text(found, annotation.words, words, str(place), corpus)

    def write(self, annotation: ConstituentTree | None, words: Sequence[str]) -> str:
        """A line."""
        return f"{constituents.format_tree(annotation)}\n"

    def of_analysis(self, analysis: str) -> ConstituentTree | None:
        """The tree of a line."""
        return parse_tree(analysis, "the parser's tree", 1)


class _ChunkTags(AnnotationFormat):
    """IOB tags of the words, a line a sentence."""

    ending = "chunks"
    empty_entry = "an empty line"
    has_words = False

    def parse(self, entry: str, place: Place) -> tuple[Chunk, ...] | None:
        """The chunks of a line."""
        return parse_chunks(entry, str(place.file), place.line)

    def transfer(
        self, annotation: tuple[Chunk, ...], words: Sequence[str], place: Place, corpus: str
    ) -> Transferred[tuple[Chunk, ...]]:
        """There must be as many tags as words."""
        if annotation[-1].end != len(words):
            raise OtherTextError(
                str(place),
                f"{annotation[-1].end} tags, but {corpus} has {len(words)} words",
                "chunk the tokenised text that the subwords were made from",
            )
        return Transferred(annotation)

    def write(self, annotation: Sequence[Chunk] | None, words: Sequence[str]) -> str:
        """A line of IOB2 tags."""
        return " ".join(iob2_tags(annotation or ())) + "\n"


CONLLU, BRACKETED, CHUNK_TAGS = _Conllu(), _Bracketed(), _ChunkTags()
