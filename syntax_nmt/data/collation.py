"""A batch's annotation as padded tensors, gathered without a loop over tokens, except
heights of trees, which need one over merges.

Shapes: B sentences, S padded source width, T padded target width (EOS included), P phrases.
`left_pad` is the side on which fairseq padded the tokens; the result has the same padding.

The number of NumPy calls costs more here than the number of elements, because caches are cold
between batches: so there are few calls, over whole batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from syntax_nmt.data.phrases import phrase_limit
from syntax_nmt.data.ragged import RaggedArray

if TYPE_CHECKING:  # commands start without torch and fairseq
    from torch import Tensor

NONE = -1
NO_PHRASE = 0


def _tensor(array: np.ndarray) -> Tensor:
    import torch

    return torch.from_numpy(array)


def collate_heads(heads: RaggedArray, ids: np.ndarray, width: int, left_pad: bool) -> Tensor:
    """The column of each token's head in the padded batch: B×S int32.

    The root's head is its own column. −1 at pads, at EOS, and in a sentence without parse.

    Args:
        heads: head index per subword, counted from the sentence's first.
        ids: the sentences of the batch in order, (B,).
        width: S.
        left_pad: whether the tokens are at the right edge.
    """
    if left_pad:
        batch, outside, first = _at_right_edge(heads, ids, width)
        batch += first.astype(np.int32)
    else:
        batch, outside, _ = _at_left_edge(heads, ids, width)
    batch[outside] = NONE
    if left_pad:
        batch[:, -1] = NONE
    return _tensor(batch)


def collate_labels(labels: RaggedArray, ids: np.ndarray, width: int, left_pad: bool) -> Tensor:
    """The label id of each token: B×S int32; −1 at pads, at EOS, and without annotation.

    Args:
        labels: id per subword.
        ids: the sentences of the batch in order, (B,).
        width: S.
        left_pad: whether the tokens are at the right edge.
    """
    at_edge = _at_right_edge if left_pad else _at_left_edge
    batch, outside, _ = at_edge(labels, ids, width)
    batch[outside] = NONE
    if left_pad:
        batch[:, -1] = NONE
    return _tensor(batch)


def collate_chunk_tags(
    chunks: RaggedArray, ids: np.ndarray, width: int, left_pad: bool, eos_tag: int
) -> Tensor:
    """The chunk tag each target position opens: B×T int32, aligned with `target`.

    Tag id 1..K where a chunk opens, 0 inside one, K+1 at EOS. −1 at pads and, EOS included, in a
    sentence without annotation.

    Args:
        chunks: tag id or 0 per subword.
        ids: the sentences of the batch in order, (B,).
        width: T.
        left_pad: whether the tokens are at the right edge.
        eos_tag: K+1.
    """
    if left_pad:
        batch, outside, first = _at_right_edge(chunks, ids, width)
        batch[outside] = NONE
        batch[:, -1] = eos_tag
        unannotated = (first == width)[:, 0]
    else:
        batch, outside, sizes = _at_left_edge(chunks, ids, width)
        batch[outside] = NONE
        batch[_numbers(len(ids)), sizes[:, 0]] = eos_tag
        unannotated = (sizes < 0)[:, 0]
    if unannotated.any():
        batch[unannotated] = NONE
    return _tensor(batch)


def collate_phrases(phrases: RaggedArray, ids: np.ndarray, lengths: np.ndarray) -> Tensor:
    """The phrase lengths of each sentence, EOS included: B×P int32, 0 = no phrase.

    In a parsed sentence EOS is a separate phrase; a sentence without parse is split into n-grams,
    EOS belonging to the last. Each row adds up to the sentence's length.

    Args:
        phrases: phrase lengths without EOS; a row that begins with −1 has no parse.
        ids: the sentences of the batch in order, (B,).
        lengths: their lengths with EOS, (B,).
    """
    bounds = phrases.bounds(ids)
    sizes = bounds[:, 1]
    unparsed = (sizes < 0).nonzero()[0]
    most = sizes.max() + 1
    if len(unparsed):
        cut_lengths = lengths[unparsed, None]
        limits = phrase_limit(cut_lengths)
        most = max(most, (-(-cut_lengths // limits)).max())
    column = _numbers(most)
    batch = phrases.take(bounds[:, :1] + column)
    batch[column >= bounds[:, 1:]] = NO_PHRASE
    batch[_numbers(len(ids)), sizes] = 1
    if len(unparsed):
        batch[unparsed] = (cut_lengths - column * limits).clip(0, limits)
    return _tensor(batch)


def collate_merges(
    merges: RaggedArray, ids: np.ndarray, lengths: np.ndarray, width: int, left_pad: bool
) -> Tensor:
    """The merges of binary trees: B×P×3 int32, left child, right child, height; −1 = no merge.

    Children are columns of the batch, or `width` + k for merge k. The height is the greatest number
    of merges down to a subword. P is 1 at least.

    Args:
        merges: of :class:`~syntax_nmt.data.annotation.trees.Trees`.
        ids: the sentences of the batch in order, (B,).
        lengths: their lengths with EOS, (B,).
        width: S.
        left_pad: whether the tokens are at the right edge.
    """
    bounds = merges.bounds(ids)
    counts = bounds[:, 1].clip(min=0) // 2
    step = _numbers(max(1, int(counts.max())))
    places = bounds[:, :1, None] + 2 * step[:, None] + _numbers(2)
    children = merges.take(places)  # B×P×2
    words = (lengths - 1)[:, None, None]
    shift = width - 1 - words if left_pad else 0
    children = np.where(children < words, children + shift, children - words + width)
    none = step >= counts[:, None]
    children[none] = NONE
    heights = np.zeros((len(ids), width + len(step)), dtype=np.int32)
    row = _numbers(len(ids))
    for merge, (left, right) in enumerate(children.transpose(1, 2, 0)):
        heights[:, width + merge] = np.maximum(heights[row, left], heights[row, right]) + 1
    heights = heights[:, width:]
    heights[none] = NONE
    return _tensor(np.dstack([children, heights]).astype(np.int32))


def _at_right_edge(
    array: RaggedArray, ids: np.ndarray, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows at the positions of the tokens of a batch that is padded on the left.

    Returns:
        B×width: the numbers; B×width: True = no token of an annotated sentence (EOS,
        in the last column, counts as one); B×1: the column of each sentence's first token, `width`
        without annotation.
    """
    bounds = array.bounds(ids)
    starts, sizes = bounds[:, :1], bounds[:, 1:]
    column = _numbers(width)
    first = (width - 1) - sizes
    return array.take((starts - first) + column), column < first, first


def _at_left_edge(
    array: RaggedArray, ids: np.ndarray, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows at the positions of the tokens of a batch that is padded on the right.

    Returns:
        B×width: the numbers; B×width: True = no token of an annotated sentence (EOS
        counts as none); B×1: each sentence's length without EOS, which is the column of its EOS; −1
        without annotation.
    """
    bounds = array.bounds(ids)
    starts, sizes = bounds[:, :1], bounds[:, 1:]
    column = _numbers(width)
    return array.take(starts + column), column >= sizes, sizes


_counted = np.arange(1024)


def _numbers(count: int) -> np.ndarray:
    """0, 1, …, count − 1; a view if the numbers exist already."""
    return _counted[:count] if count <= len(_counted) else np.arange(count)
