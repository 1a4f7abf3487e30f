"""From attention between pieces to links between words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from syntax_nmt.evaluation.alignment.alignment import Alignment
from syntax_nmt.evaluation.base.segmented_text import SegmentedPairs
from syntax_nmt.evaluation.extraction.cross_attention import CrossAttention


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


def align_words(
    attention: CrossAttention,
    text: SegmentedPairs,
    max_tokens: int,
    batch_size: int | None = None,
) -> list[Alignment | None]:
    """The alignment of each pair by the attention of a model; None = too long for it.

    Args:
        max_tokens: as of :meth:`ForcedDecoder.batches`.
    """
    alignments: list[Alignment | None] = [None] * len(text.pairs)
    found = attention.matrices(text.pairs, max_tokens, batch_size)
    for index, weights in tqdm(
        found, total=len(alignments), unit="pair", leave=False, disable=None
    ):
        words = word_attention(weights, text.source.counts[index], text.target.counts[index])
        alignments[index] = strongest_links(words)
    return alignments


def _sums(weights: np.ndarray, counts: Sequence[int], axis: int) -> np.ndarray:
    """Sums over neighbouring rows or columns, so many to each."""
    starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=int)
    return np.add.reduceat(weights.astype(np.float64), starts.astype(int), axis=axis)
