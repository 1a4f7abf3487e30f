"""Phrases of source sentences that are parsed while they are translated."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

import numpy as np
from fairseq.data import Dictionary
from torch import Tensor

from syntax_nmt.data.constituents import parse_tree
from syntax_nmt.data.phrases import parsed_lengths
from syntax_nmt.data.projection import NO_ANNOTATION
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.data.sides import PHRASES
from syntax_nmt.data.sides.kind import BatchedText
from syntax_nmt.data.subwords import NO_SUBWORDS, join_pieces, pieces_per_word, vocabulary_scheme
from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.parsing.device import check_device
from syntax_nmt.parsing.loaded import loaded_analyser
from syntax_nmt.task.interactive_sentences import KnowsPieces, unpadded

logger = logging.getLogger(__name__)

# The pieces of a sentence; None = an unknown piece that has lost its string.
Pieces = tuple[Optional[str], ...]
# Phrase lengths without EOS; None = no parse.
Row = Optional[list[int]]

_REMEMBERED = 20_000  # sentences; about 1 kB each


class PhraseParser:
    """The phrases of the parsed segmentation (Xu et al., 2020, Algorithm 1), without side files.

    Tokens become pieces, pieces words, and the words go to Stanza; the tree is split into phrases
    of pieces. This is what `syntax-nmt parse` and `binarize` do with a file, and gives the same.

    A sentence's tree does not depend on its companions in the batch, but for this: Stanza pads
    sentences to batches, so that scores differ by float32 rounding, and where two trees tie to that
    precision either may come out. Sentences are handed over in order of length, which pads least.

    Args:
        name: the configuration's file, for messages.
        dictionary: the source vocabulary.

    Raises:
        UserError: models are missing.
    """

    def __init__(self, config: ParserConfig, name: str | Path, dictionary: Dictionary) -> None:
        self.config = config
        self._name = name
        self._dictionary = dictionary
        self._warned: set[str] = set()
        self._remembered: dict[Pieces, Row] = {}  # used last stands last
        with errors_of(name):
            self._models = config.models()
        self._check_scheme()

    def phrase_lengths(self, src_tokens: Tensor, typed: KnowsPieces | None = None) -> Tensor:
        """The phrase lengths of a batch as :class:`SyntaxDataset` has them: B×P int32.

        In fairseq-generate an unknown piece has lost its string, and with it its mark. It then
        ends the word before it (sentencepiece) or its own (subword-nmt), rightly or not, and is
        left out of the word that the parser reads; lengths add up all the same.

        Args:
            src_tokens: B×S, padded on either side, EOS last.
            typed: knows the pieces of the batch, such as those of typed sentences.

        Raises:
            UserError: the models do not load, or Stanza fails on one sentence after another.
        """
        rows = unpadded(src_tokens, self._dictionary.pad())
        given = [None] * len(rows) if typed is None else typed.pieces(rows)
        sentences = [
            # A typed `<pad>` is a piece, but no token that anybody reads.
            tuple(pieces)
            if pieces is not None and len(pieces) == len(tokens) - 1
            else self._spelled(tokens[:-1])
            for tokens, pieces in zip(rows, given)
        ]
        found = [row or [NO_ANNOTATION] for row in self._rows(sentences)]
        sizes = np.array([len(tokens) for tokens in rows])
        text = BatchedText(np.arange(len(rows)), sizes, src_tokens.size(1), left_pad=False)
        batch = PHRASES.collate(RaggedArray.from_rows(found), text, 0)
        return batch.to(src_tokens.device)

    def _spelled(self, tokens: Sequence[int]) -> Pieces:
        unknown = self._dictionary.unk()
        if unknown in tokens and self.config.subwords != NO_SUBWORDS:
            self._warn(
                "unknown pieces hide where words end: their sentences may be parsed as other words "
                "than they have (fairseq-interactive knows the words, side files have the parses: "
                "--load-phrases)"
            )
        return tuple(None if token == unknown else self._dictionary[token] for token in tokens)

    def _rows(self, sentences: Sequence[Pieces]) -> list[Row]:
        """The phrases of each sentence; a sentence that was parsed lately is not parsed again."""
        rows = {
            pieces: self._remembered.pop(pieces)
            for pieces in dict.fromkeys(sentences)
            if pieces in self._remembered
        }
        rows.update(self._parsed([pieces for pieces in sentences if pieces not in rows]))
        self._remembered.update(rows)
        while len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        return [rows[pieces] for pieces in sentences]

    def _parsed(self, sentences: Iterable[Pieces]) -> dict[Pieces, Row]:
        rows: dict[Pieces, Row] = dict.fromkeys(sentences)
        cut = {pieces: self._words(pieces) for pieces in rows}
        fit = [pieces for pieces in cut if 0 < len(cut[pieces][0]) <= self.config.max_words]
        fit.sort(key=lambda pieces: len(cut[pieces][0]))
        trees = self._trees([cut[pieces][0] for pieces in fit])
        for pieces, tree in zip(fit, trees):
            rows[pieces] = _phrases(tree, cut[pieces][1])
        return rows

    def _trees(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        if not sentences:
            return []
        config = self.config
        check_device(config.device, f"{self._name}: device")
        try:
            analyser = loaded_analyser(self._models, config.device, config.batch_size)
            return analyser.analyse(sentences)
        except UserError as error:
            raise UserError(f"{self._name}: {error}") from None

    def _words(self, pieces: Pieces) -> tuple[list[str], list[int]]:
        """The words and the number of pieces of each; none where a piece has parts of two words."""
        scheme, unknown = self.config.subwords, self._dictionary.unk_word
        marked = [unknown if piece is None else piece for piece in pieces]
        try:
            counts = pieces_per_word(marked, scheme, f"subwords '{scheme}' of {self._name}")
        except UserError as error:
            self._warn(f"{error}; such a sentence counts as not parsed")
            return [], []
        words = join_pieces([piece or "" for piece in pieces], counts, scheme)
        return [word or unknown for word in words], counts

    def _check_scheme(self) -> None:
        """Warns if the vocabulary looks segmented in another way than the configuration says."""
        looks = vocabulary_scheme(self._dictionary.symbols[self._dictionary.nspecial :])
        if looks != self.config.subwords:
            self._warn(
                f"{self._name}: subwords is '{self.config.subwords}', but the source vocabulary "
                f"looks like '{looks}': phrases follow wrong words if it is"
            )

    def _warn(self, message: str) -> None:
        """Says something once."""
        if message not in self._warned:
            self._warned.add(message)
            logger.warning(message)


def _phrases(tree: str | None, pieces: Sequence[int]) -> Row:
    """The phrases of a tree over words with these numbers of pieces; None if it does not fit."""
    parsed = None if tree is None else parse_tree(tree, "Stanza's tree", 1)
    if parsed is None or len(parsed) != len(pieces):
        return None
    return parsed_lengths(parsed, pieces)
