"""The prediction loss of words by their position in a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

APART = 4  # number of single positions; later ones form one group


@dataclass(frozen=True)
class PositionLoss:
    """The loss of the pieces at one position of their chunks.

    Attributes:
        position: 1 is the piece that opens a chunk; the last group has all later ones.
        pieces: how many there are.
        nll: their mean negative log-likelihood in nats.
    """

    position: int
    pieces: int
    nll: float


def positions_in_chunks(tags: np.ndarray) -> np.ndarray:
    """The place of each piece in its chunk, counted from 1.

    Args:
        tags: > 0 where a chunk opens, 0 inside; the first piece opens one in any case.
    """
    places = np.arange(len(tags))
    opening = np.where((tags > 0) | (places == 0), places, 0)
    return places - np.maximum.accumulate(opening) + 1 if len(tags) else places


def nll_by_position(sentences: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[PositionLoss]:
    """The loss at each position that occurs, over a corpus.

    Args:
        sentences: tags and negative log-likelihoods of the pieces of each.
    """
    counts, sums = np.zeros(APART + 1, dtype=int), np.zeros(APART + 1)
    for tags, nll in sentences:
        groups = np.minimum(positions_in_chunks(tags), APART + 1) - 1
        np.add.at(counts, groups, 1)
        np.add.at(sums, groups, nll)
    return [
        PositionLoss(group + 1, int(count), float(total / count))
        for group, (count, total) in enumerate(zip(counts, sums))
        if count
    ]
