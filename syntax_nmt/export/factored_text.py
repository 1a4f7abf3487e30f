"""Pieces with the values of source factors beside them, as CTranslate2 reads them: `dog￨NOUN￨O`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntax_nmt.backbone.source_factors import (
    NO_VALUE,
    PLACE_IN_WORD,
    SPECIAL_VALUES,
    UNKNOWN_VALUE,
    places,
)
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.subwords import join_pieces, pieces_per_word
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.config import ConfiguredParsers

SEPARATOR = "￨"
_TASK = "dependencies"  # of the parser whose analyses have the columns
_COLUMNS = {column.name: column for column in COLUMNS}


def can_be_written(value: str) -> bool:
    """Whether a value is one of text: not special, not empty and without the separator."""
    return bool(value) and SEPARATOR not in value and value not in SPECIAL_VALUES


def beside(pieces: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """Pieces with values beside them.

    Args:
        columns: for each factor, the value of each piece.
    """
    pieces = [UNKNOWN_VALUE if SEPARATOR in piece else piece for piece in pieces]
    return [SEPARATOR.join(parts) for parts in zip(pieces, *columns)]


class FactoredText:
    """Annotates the pieces of typed sentences.

    Args:
        names: of the factors, in order: columns, or :data:`PLACE_IN_WORD`.
        scheme: one of `subwords.SCHEMES`.
        vocabulary: of the source; a piece that it does not have has lost its mark for the model.
        parser_config: the file of `--parser-config`; None = there is none.

    Raises:
        UserError: a factor needs a parser, and there is none; or the file has a mistake.
    """

    def __init__(
        self,
        names: Sequence[str],
        scheme: str,
        vocabulary: Sequence[str],
        parser_config: Path | None,
    ) -> None:
        self._names, self._scheme, self._vocabulary = names, scheme, frozenset(vocabulary)
        self._parsers: ConfiguredParsers | None = None
        parsed = [name for name in names if name != PLACE_IN_WORD]
        unknown = set(parsed) - _COLUMNS.keys()
        if unknown:
            raise UserError(f"source factor {min(unknown)!r} is unknown: export the model again")
        if parsed:
            if parser_config is None:
                raise UserError(
                    f"the model reads {', '.join(parsed)} of the source: give its parser as "
                    "--parser-config FILE (docs/data.md says how to write one)"
                )
            self._parsers = ConfiguredParsers.read(parser_config)
            self._parsers.find(_TASK)

    def annotated(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The pieces of each sentence with the values of all factors.

        Args:
            sentences: pieces of each.

        Raises:
            UserError: the parser fails on one sentence after another.
        """
        trees = self._trees(sentences)
        return [
            beside(pieces, [self._values(name, pieces, found) for name in self._names])
            for pieces, found in zip(sentences, trees)
        ]

    def _trees(
        self, sentences: Sequence[Sequence[str]]
    ) -> list[tuple[DependencyTree | None, list[int]]]:
        """The tree of each sentence, and the number of pieces of each of its words."""
        counts = [self._counts(pieces) for pieces in sentences]
        if self._parsers is None:
            return [(None, []) for _ in sentences]
        words = [join_pieces(pieces, each, self._scheme) for pieces, each in zip(sentences, counts)]
        analyses = self._parsers.analyses(_TASK, words)
        return [
            (tree if tree is not None and len(tree) == len(each) else None, each)
            for tree, each in zip(analyses, counts)
        ]

    def _values(
        self, name: str, pieces: Sequence[str], found: tuple[DependencyTree | None, list[int]]
    ) -> list[str]:
        if name == PLACE_IN_WORD:
            known = [piece if piece in self._vocabulary else UNKNOWN_VALUE for piece in pieces]
            return places(self._counts(known) or [1] * len(pieces))
        tree, counts = found
        if tree is None:
            return [NO_VALUE] * len(pieces)
        values = [
            value if can_be_written(value) else UNKNOWN_VALUE
            for value in _COLUMNS[name].values(tree)
        ]
        return [value for value, count in zip(values, counts) for _ in range(count)]

    def _counts(self, pieces: Sequence[str]) -> list[int]:
        """The number of pieces of each word; none if a piece has parts of two words."""
        try:
            return pieces_per_word(pieces, self._scheme, "the text")
        except UserError:
            return []
