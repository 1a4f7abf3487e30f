"""An annotation file and its text, read together and projected to subwords, a range of sentences at
a time; the subwords are compared with those that fairseq binarised.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fairseq.data import Dictionary

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.annotation_transfer import OtherTextError
from syntax_nmt.data.data_bin import load_dictionary
from syntax_nmt.data.file_ranges import Start, entry_starts
from syntax_nmt.data.ragged import IndexedFile, open_indexed
from syntax_nmt.data.subwords import join_pieces, pieces_per_word
from syntax_nmt.data.text_files import BYTE_ORDER_MARK, read_lines
from syntax_nmt.data.word_annotation import AnnotationFit, WordAnnotation, zip_checked
from syntax_nmt.errors import UserError

_BATCH = 500  # rows that are held until they are written


class TextRange(NamedTuple):
    """Consecutive sentences.

    Attributes:
        first: position of the first, from 0.
        sentences: how many there are.
        starts: where the first begins in each file: annotation, pieces, and words if there are any.
    """

    first: int
    sentences: int
    starts: tuple[Start, ...]


class RangeRows(NamedTuple):
    """The rows of one kind that a range of sentences has.

    Attributes:
        file: the rows, as :func:`read_part` reads them. Labels have ids of the part's own.
        labels: in the order of these ids, from 1.
        counts: how many words have each label.
        annotated: rows with annotation.
    """

    file: Path
    labels: tuple[str, ...]
    counts: Counter[str]
    annotated: int

    def without_counts(self) -> RangeRows:
        """The same in less memory: all ranges share the string of a label, such as a lemma."""
        return self._replace(labels=tuple(map(sys.intern, self.labels)), counts=Counter())


class Projected(NamedTuple):
    """What became of a range: a part for each kind, and how the annotation fits the text."""

    parts: tuple[RangeRows, ...]
    fit: AnnotationFit


@dataclass(frozen=True)
class AnnotatedText:
    """One language of one split with an annotation file, which holds one kind of annotation or
    several.

    Attributes:
        annotation: the annotation file.
        kinds: those that are projected; each sentence is parsed and checked once for all of them.
        pieces: the segmented text.
        words: the tokenised text, or None if the pieces determine the words.
        scheme: one of `subwords.SCHEMES`.
        tokens: fairseq's prefix of the binarised tokens.
        lang: their language.
    """

    annotation: WordAnnotation
    kinds: tuple[AnnotationKind, ...]
    pieces: Path
    words: Path | None
    scheme: str
    tokens: Path
    lang: str

    @property
    def dictionary(self) -> Path:
        """The vocabulary's file, which the binarised tokens were made with."""
        return self.tokens.with_name(f"dict.{self.lang}.txt")

    @property
    def text(self) -> Path:
        """The file whose lines have the words."""
        return self.words or self.pieces

    def binarised(self) -> BinarisedPieces:
        """The tokens; they stay open in this process as long as their files do not change.

        Raises:
            UserError: they are damaged, or have other numbers than the dictionary.
        """
        files = (Path(f"{self.tokens}.idx"), Path(f"{self.tokens}.bin"), self.dictionary)
        try:
            stamps = [(each.stat().st_mtime_ns, each.stat().st_size) for each in files]
        except OSError as error:
            raise UserError(f"{error.filename}: not found: run fairseq-preprocess again") from error
        return _open_tokens(self.tokens, self.dictionary, self.pieces, tuple(stamps))

    def ranges(self, sentences: int, size: int) -> Iterator[TextRange]:
        """Cuts the text into ranges, each of which can be read by itself.

        Args:
            sentences: that the binarised text has.
            size: sentences of a range; the last may have fewer.

        Raises:
            UserError: the files have different numbers of sentences.
        """
        streams: dict[str, Iterator[Any]] = {
            str(self.annotation.file): entry_starts(self.annotation.file, self.annotation.kind),
            str(self.pieces): entry_starts(self.pieces, None),
            f"{self.tokens}.idx": iter(range(sentences)),
        }
        if self.words is not None:
            streams[str(self.words)] = entry_starts(self.words, None)
        first, starts, number = 0, None, 0
        for number, (annotation, pieces, _, *words) in zip_checked(streams):
            if number - first > size:
                yield TextRange(first, size, starts or ())
                first, starts = number - 1, None
            starts = starts or (annotation, pieces, *words)
        if starts is not None:
            yield TextRange(first, number - first, starts)

    def project(self, folder: Path, taken: TextRange) -> Projected:
        """Parses, checks and projects the sentences of a range, and writes their rows.

        A sentence whose annotation has other words is counted by the fit, and has none from then
        on.

        Args:
            folder: gets a file for each kind.
            taken: of :meth:`ranges`.

        Raises:
            UserError: something is malformed; names file, line and both values.
        """
        fit = AnnotationFit()
        name = f"{self.tokens.name}.{{}}.{taken.first}.part"
        writers = [_PartWriter(folder / name.format(kind.name), kind) for kind in self.kinds]
        for size, counts, found in self._transferred(taken, fit):
            for writer in writers:
                writer.add(size, counts, found)
        return Projected(tuple(writer.close() for writer in writers), fit)

    def _transferred(
        self, taken: TextRange, fit: AnnotationFit
    ) -> Iterator[tuple[int, list[int], Any]]:
        """For each sentence its number of pieces, that of each word, and the annotation or None.

        Args:
            fit: counts the sentences whose annotation fits their text, and those it does not fit.
        """
        kind, binarised = self.annotation.kind, self.binarised()
        of_annotation, of_pieces, *of_words = taken.starts
        words_lines = [] if self.words is None else [read_lines(self.words, of_words[0].position)]
        streams = (
            self.annotation.entries(of_annotation),
            read_lines(self.pieces, of_pieces.position),
            *words_lines,
        )
        sentences = islice(zip(*streams), taken.sentences)
        for line, ((place, entry), pieces, *words) in enumerate(sentences, taken.first + 1):
            cut = pieces.split()
            counts, split = self._words(line, cut, binarised, words[0] if words else None)
            try:
                found = kind.format.read(entry, split, place, f"{self.text}:{line}")
            except OtherTextError as error:
                fit.add_mismatch(line, error)
                yield len(cut), counts, None
                continue
            fit.add(found, len(split))
            yield len(cut), counts, None if found is None else found.annotation

    def _words(
        self, line: int, pieces: list[str], binarised: BinarisedPieces, words: str | None
    ) -> tuple[list[int], list[str]]:
        """The number of pieces of each word, and the words."""
        where = f"{self.pieces}:{line}"
        binarised.check(line, pieces)
        counts = pieces_per_word(pieces, self.scheme, where)
        if words is None:
            return counts, join_pieces(pieces, counts, self.scheme)
        split = words.split()
        if len(split) != len(counts):
            raise UserError(
                f"{where}: {len(counts)} words ({self.scheme} segmentation), but "
                f"{self.words}:{line} has {len(split)}: segment this very text, without "
                f"a normalisation that splits words, or give the right --subwords"
            )
        return counts, split

    def words_of_lines(self) -> Iterator[list[str]]:
        """The words of each line of the text."""
        if self.words is not None:
            yield from (line.split() for line in read_lines(self.words))
            return
        for number, line in enumerate(read_lines(self.pieces), start=1):
            pieces = line.split()
            counts = pieces_per_word(pieces, self.scheme, f"{self.pieces}:{number}")
            yield join_pieces(pieces, counts, self.scheme)


class _PartWriter:
    """Writes the rows of a range for one kind; memory does not grow with their number."""

    def __init__(self, file: Path, kind: AnnotationKind) -> None:
        self._file, self._kind = file, kind
        self._stream = open(file, "wb")  # noqa: SIM115
        self._rows: list[np.ndarray] = []
        # No text has all of these, but a kind may need them.
        needed = kind.ordered(()) if kind.labels_file else ()
        self._ids = {label: number for number, label in enumerate(needed, start=1)}
        self._counts: Counter[str] = Counter()
        self._annotated = 0

    def add(self, size: int, counts: Sequence[int], found: Any) -> None:
        """Adds a sentence.

        Args:
            counts: the number of pieces of each word.
            found: annotation of the words; None = none.
        """
        if found is None:
            row = self._kind.no_row(size)
        else:
            labels = tuple(self._kind.labels(found))
            self._counts.update(labels)
            for label in labels:
                self._ids.setdefault(label, len(self._ids) + 1)
            row = self._kind.row(found, counts, self._ids)
            self._annotated += 1
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._write()

    def _write(self) -> None:
        np.save(self._stream, np.array([len(row) for row in self._rows], dtype=np.int32))
        np.save(self._stream, np.concatenate(self._rows))
        self._rows.clear()

    def close(self) -> RangeRows:
        """Writes the rest."""
        with self._stream:
            if self._rows:
                self._write()
        return RangeRows(self._file, tuple(self._ids), self._counts, self._annotated)


def read_part(file: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows of a part, some at a time: their sizes, and all their numbers."""
    with open(file, "rb") as stream:
        while stream.peek(1):
            yield np.load(stream), np.load(stream)


class BinarisedPieces:
    """The tokens of a binarised text, for comparison with their text.

    Args:
        tokens: fairseq's prefix of them.
        text: the segmented text, for messages.

    Attributes:
        indexed: the tokens, memory-mapped.
        sizes: the length of each sentence with EOS, (sentences,).
    """

    def __init__(
        self, tokens: Path, indexed: IndexedFile, dictionary: Dictionary, text: Path
    ) -> None:
        self._tokens = tokens
        self.indexed = indexed
        self.sizes = indexed.sizes
        self._dictionary = dictionary
        self._text = text

    def check(self, line: int, pieces: Sequence[str]) -> None:
        """Compares a line, without EOS.

        Args:
            line: its 1-based number.

        Raises:
            UserError: they differ; names both.
        """
        size = int(self.sizes[line - 1]) - 1
        if len(pieces) != size:
            raise UserError(
                f"{self._text}:{line}: {len(pieces)} subwords, but {self._tokens}.idx has {size} "
                "for this sentence: give the very files that fairseq-preprocess was given"
            )
        get, unknown = self._dictionary.indices.get, self._dictionary.unk()
        start = int(self.indexed.starts(line - 1))
        found = self.indexed.values[start : start + size].tolist()
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


@lru_cache(maxsize=2)
def _open_tokens(
    tokens: Path, dictionary: Path, text: Path, stamps: tuple[tuple[int, int], ...]
) -> BinarisedPieces:
    """Opens a binarised text and its vocabulary.

    Args:
        text: the segmented text, for messages.
        stamps: times and sizes of the files, so that files that were written again are opened.
    """
    try:
        indexed = open_indexed(tokens, shortest=1)
    except (OSError, ValueError) as error:
        raise UserError(f"{error}: run fairseq-preprocess again") from error
    loaded = load_dictionary(dictionary)
    if len(indexed.values) and int(indexed.values.max()) >= len(loaded):
        raise UserError(
            f"{dictionary}: {len(loaded)} entries, but {tokens}.bin has token "
            f"{int(indexed.values.max())}: run fairseq-preprocess again"
        )
    return BinarisedPieces(tokens, indexed, loaded, text)
