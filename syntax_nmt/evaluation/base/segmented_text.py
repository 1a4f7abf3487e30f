"""Sentences and their translations in pieces, and the words that the pieces belong to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syntax_nmt.data.subwords import detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.evaluation.base.parallel_files import read_parallel

Segmenter = Callable[[str], tuple[str, ...]]
"""Segments a line into pieces."""


@dataclass(frozen=True)
class TokenPair:
    """A segmented sentence and a segmented translation of it.

    Attributes:
        source: the pieces of the source.
        target: the pieces of the translation.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]


def segmented_already(line: str) -> tuple[str, ...]:
    """The pieces of a line that has spaces between them."""
    return tuple(line.split())


def read_pairs(
    source: str,
    target: str,
    segment: Segmenter = segmented_already,
    segment_target: Segmenter = segmented_already,
) -> list[TokenPair]:
    """The sentences and translations of parallel files, in pieces.

    Raises:
        UserError: they have different numbers of lines.
    """
    lines = zip(*read_parallel(source, target))
    return [TokenPair(segment(x), segment_target(y)) for x, y in lines]


@dataclass(frozen=True)
class SegmentedText:
    """The words of a segmented text.

    Attributes:
        words: of each sentence.
        counts: for each sentence the numbers of pieces of its words.
    """

    words: list[tuple[str, ...]]
    counts: list[list[int]]

    @classmethod
    def of(
        cls, sentences: Sequence[Sequence[str]], name: str, scheme: str | None = None
    ) -> SegmentedText:
        """The words of sentences in pieces.

        Args:
            name: of the file, for messages.
            scheme: one of `subwords.SCHEMES`; None = detected from the text.

        Raises:
            UserError: a piece reaches over a word's end.
        """
        scheme = scheme or detect_scheme(" ".join(pieces) for pieces in sentences)
        counts = [
            pieces_per_word(pieces, scheme, f"{name}:{number}")
            for number, pieces in enumerate(sentences, start=1)
        ]
        joined = (join_pieces(*sentence, scheme) for sentence in zip(sentences, counts))
        return cls([tuple(words) for words in joined], counts)


@dataclass(frozen=True)
class SegmentedPairs:
    """A segmented corpus of sentences and translations.

    Attributes:
        pairs: the pieces of each pair.
        source: the words of the sentences.
        target: the words of the translations.
    """

    pairs: Sequence[TokenPair]
    source: SegmentedText
    target: SegmentedText

    @classmethod
    def of(
        cls,
        pairs: Sequence[TokenPair],
        schemes: Sequence[str | None] = (None, None),
        names: tuple[str, str] = ("source", "target"),
    ) -> SegmentedPairs:
        """The words of pairs.

        Args:
            schemes: of source and target, of `subwords.SCHEMES`; None = detected from the text.
            names: the files of source and target, for messages.

        Raises:
            UserError: a piece reaches over a word's end.
        """
        source = SegmentedText.of([pair.source for pair in pairs], names[0], schemes[0])
        target = SegmentedText.of([pair.target for pair in pairs], names[1], schemes[1])
        return cls(pairs, source, target)

    def flipped(self) -> SegmentedPairs:
        """The same with the sides exchanged."""
        pairs = [TokenPair(pair.target, pair.source) for pair in self.pairs]
        return SegmentedPairs(pairs, self.target, self.source)

    def lengths(self) -> list[tuple[int, int]]:
        """For each pair its source words and its target words."""
        return [(len(x), len(y)) for x, y in zip(self.source.words, self.target.words)]
