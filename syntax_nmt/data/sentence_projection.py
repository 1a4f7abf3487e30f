"""Projects a corpus and its annotation file to subwords, batch by batch; compares the subwords with
those that fairseq binarised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fairseq.data import Dictionary

from syntax_nmt.data.annotation.kind import AnnotationKind, Place
from syntax_nmt.data.annotation_transfer import OtherTextError
from syntax_nmt.data.ragged import IndexedFile
from syntax_nmt.data.subwords import join_pieces, pieces_per_word
from syntax_nmt.data.text_files import BYTE_ORDER_MARK, read_lines
from syntax_nmt.data.word_annotation import AnnotationFit, WordAnnotation, zip_checked
from syntax_nmt.errors import UserError

_BATCH = 500


class Sentence(NamedTuple):
    """The entries of one sentence in all files; `line` is a 1-based line number."""

    line: int
    pieces: str
    words: str | None
    place: Place
    entry: Any
    size: int


class Projected(NamedTuple):
    """Rows of one batch, concatenated, their sizes, and statistics."""

    values: np.ndarray
    sizes: np.ndarray
    annotated: int
    unseen_labels: Counter[str]
    fit: AnnotationFit


class LabelCounts(NamedTuple):
    """How often the words of one batch have each label, and statistics."""

    counts: Counter[str]
    fit: AnnotationFit


@dataclass(frozen=True)
class Projector:
    """Projects one annotation file of one language of one split to subwords.

    Attributes:
        annotation: the annotation file.
        pieces: the segmented text.
        words: the tokenised text, or None if the pieces determine the words.
        scheme: one of `subwords.SCHEMES`.
        tokens: fairseq's prefix of the binarised tokens.
        lang: their language.
        label_ids: id of each label of a kind that has some.
    """

    annotation: WordAnnotation
    pieces: Path
    words: Path | None
    scheme: str
    tokens: Path
    lang: str
    label_ids: Mapping[str, int] = field(default_factory=dict)

    @property
    def kind(self) -> AnnotationKind:
        """Of the annotation file."""
        return self.annotation.kind

    @property
    def dictionary(self) -> Path:
        """The vocabulary's file, which the binarised tokens were made with."""
        return self.tokens.with_name(f"dict.{self.lang}.txt")

    def batches(
        self, sizes: np.ndarray, binarised: BinarisedPieces | None = None
    ) -> Iterator[list[Sentence]]:
        """Reads all files in parallel.

        Args:
            sizes: the data-bin's own lengths, EOS included, (sentences,).
            binarised: its tokens, which must equal the subwords.

        Raises:
            UserError: the files have different numbers of sentences, or the subwords are others.
        """
        batch: list[Sentence] = []
        streams: dict[str, Iterator[Any]] = {
            str(self.annotation.file): self.annotation.entries(),
            str(self.pieces): read_lines(self.pieces),
            f"{self.tokens}.idx": iter(sizes.tolist()),
        }
        if self.words is not None:
            streams[str(self.words)] = read_lines(self.words)
        for line, ((place, entry), pieces, size, *words) in zip_checked(streams):
            if binarised is not None:
                binarised.check(line, pieces.split())
            batch.append(Sentence(line, pieces, words[0] if words else None, place, entry, size))
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def project(self, batch: Sequence[Sentence]) -> Projected:
        """Parses, checks and projects a batch.

        A sentence whose annotation has other words is counted by the fit, and has none from then
        on.

        Args:
            batch: from :meth:`batches`.

        Raises:
            UserError: something is malformed; names file, line and both values.
        """
        unseen: Counter[str] = Counter()
        fit = AnnotationFit()
        rows = []
        annotated = 0
        for sentence, counts, found in self._transferred(batch, fit):
            row = None if found is None else self._row(found, counts, unseen)
            annotated += row is not None
            rows.append(self.kind.no_row(sentence.size - 1) if row is None else row)
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        return Projected(np.concatenate(rows), sizes, annotated, unseen, fit)

    def labels(self, batch: Sequence[Sentence]) -> LabelCounts:
        """Counts the labels that rows would have, those of the words of the text.

        Args:
            batch: from :meth:`batches`.

        Raises:
            UserError: as of :meth:`project`.
        """
        counts: Counter[str] = Counter()
        fit = AnnotationFit()
        for _, _, found in self._transferred(batch, fit):
            counts.update(() if found is None else self.kind.labels(found))
        return LabelCounts(counts, fit)

    def _transferred(
        self, batch: Sequence[Sentence], fit: AnnotationFit
    ) -> Iterator[tuple[Sentence, list[int], Any]]:
        """Sentences, the number of pieces of each word, and the annotation of the words or None.

        Args:
            fit: counts the sentences whose annotation fits their text, and those it does not fit.
        """
        for sentence in batch:
            counts, words = self._words(sentence)
            corpus = f"{self.words or self.pieces}:{sentence.line}"
            try:
                found = self.kind.read(sentence.entry, words, sentence.place, corpus)
            except OtherTextError as error:
                fit.add_mismatch(sentence.line, error)
                yield sentence, counts, None
                continue
            fit.add(found, len(words))
            yield sentence, counts, None if found is None else found.annotation

    def _words(self, sentence: Sentence) -> tuple[list[int], list[str]]:
        """The number of pieces of each word, and the words."""
        where = f"{self.pieces}:{sentence.line}"
        pieces = sentence.pieces.split()
        if len(pieces) != sentence.size - 1:
            raise UserError(
                f"{where}: {len(pieces)} subwords, but {self.tokens}.idx has {sentence.size - 1} "
                f"for this sentence: give the very files that fairseq-preprocess was given"
            )
        counts = pieces_per_word(pieces, self.scheme, where)
        if sentence.words is None:
            return counts, join_pieces(pieces, counts, self.scheme)
        words = sentence.words.split()
        if len(words) != len(counts):
            raise UserError(
                f"{where}: {len(counts)} words ({self.scheme} segmentation), but "
                f"{self.words}:{sentence.line} has {len(words)}: segment this very text, without "
                f"a normalisation that splits words, or give the right --subwords"
            )
        return counts, words

    def _row(
        self, annotation: Any, counts: Sequence[int], unseen: Counter[str]
    ) -> np.ndarray | None:
        unknown = self.kind.unseen(annotation, self.label_ids)
        if unknown:
            unseen.update(unknown)
            return None
        return self.kind.row(annotation, counts, self.label_ids)

    def words_of_lines(self) -> Iterator[list[str]]:
        """The words of each line of the text."""
        if self.words is not None:
            yield from (line.split() for line in read_lines(self.words))
            return
        for number, line in enumerate(read_lines(self.pieces), start=1):
            pieces = line.split()
            counts = pieces_per_word(pieces, self.scheme, f"{self.pieces}:{number}")
            yield join_pieces(pieces, counts, self.scheme)


class BinarisedPieces:
    """The tokens of a binarised text, for comparison with their text.

    Args:
        tokens: fairseq's prefix of them.
        text: the segmented text, for messages.
    """

    def __init__(
        self, tokens: Path, indexed: IndexedFile, dictionary: Dictionary, text: Path
    ) -> None:
        self._tokens = tokens
        self._values, self._sizes = indexed
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._dictionary = dictionary
        self._text = text

    def check(self, line: int, pieces: Sequence[str]) -> None:
        """Compares a line, without EOS.

        A line of another length is ignored: another check reports it.

        Args:
            line: its 1-based number.

        Raises:
            UserError: they differ; names both.
        """
        if len(pieces) != self._sizes[line - 1] - 1:
            return
        get, unknown = self._dictionary.indices.get, self._dictionary.unk()
        start = self._starts[line - 1]
        found = self._values[start : start + len(pieces)].tolist()
        given = [get(piece, unknown) for piece in pieces]
        if line == 1 and found != given:  # fairseq keeps it
            given[0] = get(f"{BYTE_ORDER_MARK}{pieces[0]}", unknown)
        if found != given:
            place = next(i for i, pair in enumerate(zip(found, given)) if pair[0] != pair[1])
            raise UserError(
                f"{self._text}:{line}: subword {place + 1} is {pieces[place]!r}, but "
                f"{self._tokens}.bin has {self._symbol(found[place])!r} there: give the very files "
                f"that fairseq-preprocess was given"
            )

    def _symbol(self, token: int) -> str:
        symbols = self._dictionary.symbols
        return symbols[token] if 0 <= token < len(symbols) else f"token {token}"
