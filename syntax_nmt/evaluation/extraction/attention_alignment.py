"""From attention between pieces to links between words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from syntax_nmt.data.subwords import detect_scheme, pieces_per_word
from syntax_nmt.evaluation.alignment.alignment import Alignment
from syntax_nmt.evaluation.extraction.cross_attention import CrossAttention
from syntax_nmt.evaluation.trained_model.forced_decoding import TokenPair


def word_attention(
    weights: np.ndarray, source_pieces: Sequence[int], target_pieces: Sequence[int]
) -> np.ndarray:
    """The attention between words, out of that between pieces.

    What a target word attends to is the mean over its pieces' rows; what a source word gets is the
    sum over its pieces' columns.

    Args:
        weights: T×S between pieces, without EOS.
        source_pieces: the number of pieces of each source word; they add up to S.
        target_pieces: likewise; they add up to T.

    Returns:
        target words × source words.
    """
    of_sources = _sums(weights, source_pieces, axis=1)
    return _sums(of_sources, target_pieces, axis=0) / np.asarray(target_pieces)[:, None]


def strongest_links(attention: np.ndarray) -> Alignment:
    """Each target word linked to the source word that it attends to most, the first of equals.

    Args:
        attention: target words × source words.
    """
    if not attention.size:
        return frozenset()
    return frozenset(
        (int(source), target) for target, source in enumerate(attention.argmax(axis=1))
    )


@dataclass(frozen=True)
class WordCounts:
    """The pieces of each word, on both sides of a segmented corpus.

    Attributes:
        sources: for each sentence the numbers of pieces of its words.
        targets: likewise.
    """

    sources: list[list[int]]
    targets: list[list[int]]

    @classmethod
    def of(
        cls, pairs: Sequence[TokenPair], scheme: str | None, names: tuple[str, str]
    ) -> WordCounts:
        """Counts the pieces of a corpus.

        Args:
            scheme: one of `subwords.SCHEMES`; None = told from the text of each side.
            names: the files of source and target, for messages.

        Raises:
            UserError: a piece reaches over a word's end.
        """
        return cls(
            _piece_counts([pair.source for pair in pairs], scheme, names[0]),
            _piece_counts([pair.target for pair in pairs], scheme, names[1]),
        )

    def flipped(self) -> WordCounts:
        """The same with the sides exchanged."""
        return WordCounts(self.targets, self.sources)

    def lengths(self) -> list[tuple[int, int]]:
        """For each pair its source words and its target words."""
        return [(len(x), len(y)) for x, y in zip(self.sources, self.targets)]


def align_words(
    attention: CrossAttention,
    pairs: Sequence[TokenPair],
    counts: WordCounts,
    max_tokens: int,
    batch_size: int | None = None,
) -> list[Alignment | None]:
    """The alignment of each pair by the attention of a model; None = too long for it.

    Args:
        pairs: sentences and their translations.
        max_tokens: as of :meth:`ForcedDecoder.batches`.
    """
    alignments: list[Alignment | None] = [None] * len(pairs)
    found = attention.matrices(pairs, max_tokens, batch_size)
    for index, weights in tqdm(found, total=len(pairs), unit="pair", leave=False, disable=None):
        words = word_attention(weights, counts.sources[index], counts.targets[index])
        alignments[index] = strongest_links(words)
    return alignments


def _piece_counts(
    sentences: Sequence[tuple[str, ...]], scheme: str | None, name: str
) -> list[list[int]]:
    scheme = scheme or detect_scheme(" ".join(pieces) for pieces in sentences)
    return [
        pieces_per_word(pieces, scheme, f"{name}:{number}")
        for number, pieces in enumerate(sentences, start=1)
    ]


def _sums(weights: np.ndarray, counts: Sequence[int], axis: int) -> np.ndarray:
    """Sums over neighbouring rows or columns, so many to each."""
    starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=int)
    return np.add.reduceat(weights.astype(np.float64), starts.astype(int), axis=axis)
