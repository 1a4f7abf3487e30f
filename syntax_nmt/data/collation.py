"""A batch's side information as padded tensors, gathered without a loop over tokens.

Shapes: B sentences, S padded source width, T padded target width (EOS included), P phrases.
`left_pad` says on which side fairseq padded the tokens, which the result follows.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from syntax_nmt.data.ragged import RaggedArray

NONE = -1
MIN_NGRAM, MAX_NGRAM, NGRAM_DIVISOR = 3, 8, 6


def collate_heads(heads: RaggedArray, ids: np.ndarray, width: int, left_pad: bool) -> Tensor:
    """The column of each token's head in the padded batch: B×S int64.

    The root's head is its own column. −1 at pads, at EOS, and in a sentence without parse.

    Args:
        heads: head index per subword, counted from the sentence's first.
        ids: the sentences of the batch in order, (B,).
        width: S.
        left_pad: whether the tokens stand at the right edge.
    """
    starts, sizes = _annotated_rows(heads, ids)
    if not left_pad:
        return torch.from_numpy(_right_padded(heads, starts, sizes, width))
    shift = (width - 1 - heads.sizes[ids])[:, None]
    position = np.arange(width) - shift
    # Seen as unsigned, positions left of the sentence are huge: one comparison tests both ends.
    inside = position.view(np.uint64) < sizes[:, None].view(np.uint64)
    position += starts[:, None]
    return torch.from_numpy(np.where(inside, heads.take(position) + shift, NONE))


def collate_chunk_tags(
    chunks: RaggedArray, ids: np.ndarray, width: int, left_pad: bool, eos_tag: int
) -> Tensor:
    """The chunk tag each target position opens: B×T int64, aligned with `target`.

    Tag id 1..K where a chunk opens, 0 inside one, K+1 at EOS. −1 at pads and, EOS included, in a
    sentence without annotation.

    Args:
        chunks: tag id or 0 per subword.
        ids: the sentences of the batch in order, (B,).
        width: T.
        left_pad: whether the tokens stand at the right edge.
        eos_tag: K+1.
    """
    starts, sizes = _annotated_rows(chunks, ids)
    if left_pad:
        position = np.arange(width) - (width - 1 - chunks.sizes[ids])[:, None]
        inside = position.view(np.uint64) < sizes[:, None].view(np.uint64)
        position += starts[:, None]
        tags = np.where(inside, chunks.take(position), np.int64(NONE))
        eos = np.full(len(ids), width - 1)
    else:
        tags = _right_padded(chunks, starts, sizes, width)
        eos = sizes
    annotated = np.flatnonzero(sizes)
    tags[annotated, eos[annotated]] = eos_tag
    return torch.from_numpy(tags)


def collate_phrases(phrases: RaggedArray, ids: np.ndarray, lengths: np.ndarray) -> Tensor:
    """The phrase lengths of each sentence, EOS included: B×P int64, 0 = no phrase.

    In a parsed sentence EOS is a phrase of its own; a sentence without parse is cut into n-grams,
    EOS belonging to the last. Each row adds up to the sentence's length.

    Args:
        phrases: phrase lengths without EOS; a row that begins with −1 has no parse.
        ids: the sentences of the batch in order, (B,).
        lengths: their lengths with EOS, (B,).
    """
    starts, sizes = _annotated_rows(phrases, ids)
    unparsed = np.flatnonzero(sizes == 0)
    limits = ngram_limits(lengths[unparsed])
    counts = sizes + 1
    counts[unparsed] = -(-lengths[unparsed] // limits)
    column = np.arange(counts.max())
    inside = column < sizes[:, None]
    rows = np.where(inside, phrases.take(column + starts[:, None]), np.int64(0))
    if len(unparsed):
        rows[unparsed] = np.clip(
            lengths[unparsed, None] - column * limits[:, None], 0, limits[:, None]
        )
    parsed = np.flatnonzero(sizes)
    rows[parsed, sizes[parsed]] = 1
    return torch.from_numpy(rows)


def ngram_limits(lengths: np.ndarray) -> np.ndarray:
    """The phrase limit of each sentence (see `phrases.phrase_limit`).

    Args:
        lengths: tokens with EOS, (B,).
    """
    return np.clip(-(-lengths // NGRAM_DIVISOR), MIN_NGRAM, MAX_NGRAM)


def _annotated_rows(array: RaggedArray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each row starts, and its length: 0 for one that begins with −1 (no annotation)."""
    starts, sizes = array.starts[ids], array.sizes[ids]
    return starts, sizes * (array.take(starts) >= 0)


def _right_padded(
    array: RaggedArray, starts: np.ndarray, sizes: np.ndarray, width: int
) -> np.ndarray:
    """Rows at the left edge of a B×width int64 array, −1 behind them."""
    column = np.arange(width)
    return np.where(
        column < sizes[:, None],
        array.take(column + starts[:, None]),
        np.int64(NONE),
    )
