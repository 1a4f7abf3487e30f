"""Projects word-level structures to subwords, as int32 arrays without EOS."""

from collections.abc import Mapping, Sequence

import numpy as np

from syntax_nmt.data.chunks import Chunk

NO_ANNOTATION = -1


def project_heads(heads: Sequence[int], pieces_per_word: Sequence[int]) -> np.ndarray:
    """The head of each subword: (number of pieces,) int32.

    A word's first piece carries its relations: its head is the first piece of the word's head (the
    root's first piece is its own head). Every other piece depends on the first piece of its word.

    Args:
        heads: 0-based head of each word; the root's is its own index.
        pieces_per_word: the number of pieces of each word, each at least 1.
    """
    counts = np.asarray(pieces_per_word, dtype=np.int32)
    first = first_pieces(counts)
    projected = np.repeat(first, counts)
    projected[first] = first[np.asarray(heads, dtype=np.int64)]
    return projected


def project_chunks(
    chunks: Sequence[Chunk], pieces_per_word: Sequence[int], tag_ids: Mapping[str, int]
) -> np.ndarray:
    """The tag id (1..K) where a chunk begins, 0 inside: (number of pieces,) int32.

    A chunk begins at the first piece of its first word.

    Args:
        chunks: consecutive chunks that cover the words.
        pieces_per_word: the number of pieces of each word.
        tag_ids: id of each chunk type.

    Raises:
        KeyError: a chunk type has no id.
    """
    counts = np.asarray(pieces_per_word, dtype=np.int32)
    projected = np.zeros(int(counts.sum()), dtype=np.int32)
    opened = first_pieces(counts)[[chunk.start for chunk in chunks]]
    projected[opened] = [tag_ids[chunk.tag] for chunk in chunks]
    return projected


def first_pieces(pieces_per_word: np.ndarray) -> np.ndarray:
    """Index of each word's first piece: (number of words,) int32.

    Args:
        pieces_per_word: the number of pieces of each word.
    """
    return np.cumsum(pieces_per_word, dtype=np.int32) - pieces_per_word
