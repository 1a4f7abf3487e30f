"""Parallel files, and the words that the pieces of sentences and their translations belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.subwords import detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class TokenPair:
    """A segmented sentence and a segmented translation of it.

    Attributes:
        source: the pieces of the source.
        target: the pieces of the translation.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]


def read_token_pairs(source: str, target: str) -> list[TokenPair]:
    """The sentences and translations of parallel files whose lines have spaces between pieces.

    Raises:
        UserError: they have different numbers of lines.
    """
    lines = zip(*read_parallel(source, target))
    return [TokenPair(tuple(x.split()), tuple(y.split())) for x, y in lines]


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


def check_parallel(path: str, count: int, other: str, others: int, unit: str = "lines") -> None:
    """Refuses a file that is not parallel to another.

    Args:
        unit: what is counted.

    Raises:
        UserError: the numbers differ.
    """
    if count != others:
        raise UserError(f"{path} has {count} {unit}, {other} {others}: give parallel files")


def read_parallel(*paths: str | Path) -> list[list[str]]:
    """The lines of each file.

    Raises:
        UserError: a file cannot be read, or has another number of lines than the first.
    """
    columns = [list(read_lines(path)) for path in paths]
    for path, column in zip(paths, columns):
        check_parallel(str(path), len(column), str(paths[0]), len(columns[0]))
    return columns


def read_parallel_trees(
    path: str | Path, other: str, sentences: int
) -> list[DependencyTree | None]:
    """The trees of a CoNLL-U file, which may have several roots; None = no parse.

    Args:
        path: the file, plain or `.gz`.
        other: the text that they are parallel to, for messages.
        sentences: how many it has.

    Raises:
        UserError: the file is damaged, has another number of sentences, or no parse at all.
    """
    trees = list(read_conllu(path, one_root=False))
    if len(trees) != sentences:
        raise UserError(
            f"{path} has {len(trees)} sentences, {other} {sentences}: give the parses of this very "
            "text ('# parse = none' where there is none)"
        )
    if not any(trees):
        raise UserError(f"{path}: no sentence has a parse: give the parses of this very text")
    return trees
