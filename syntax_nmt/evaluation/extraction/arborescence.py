"""The best dependency tree under scores of single arcs: Chu-Liu-Edmonds with one root."""

from __future__ import annotations

import numpy as np


def maximum_arborescence(scores: np.ndarray) -> list[int]:
    """The 0-based head of each word in the tree with one root whose arcs' scores add up to most.

    The algorithm is Stanza's (Stanojević and Cohen, 2021, for the single root). Adding a number to
    a whole row changes nothing, so that rows need not be normalised.

    Args:
        scores: n×n, `scores[dependent, head]`; the diagonal is the score of being the root. −inf
            forbids an arc as long as there is a tree without it.

    Returns:
        n heads; the root's is its own index.

    Raises:
        ValueError: no square matrix, no word, or a score that is NaN or +inf.
    """
    scores = np.asarray(scores, dtype=np.float64)
    words = len(scores)
    if scores.shape != (words, words) or not words:
        raise ValueError(f"scores must be square and not empty, not {scores.shape}")
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise ValueError("scores must not be NaN or +inf")
    finite = _finite_and_negative(scores)
    rooted = np.zeros((words + 1, words + 1))  # Stanza: node 0 is an artificial root
    rooted[1:, 1:] = finite
    rooted[1:, 0] = np.diagonal(finite)
    # Its penalty against a second root is a multiple of the lowest score, wherever that stands.
    np.fill_diagonal(rooted, finite.max())
    rooted[0] = finite.max()
    # Imported here: with it comes all of Stanza, which other commands need not wait for.
    from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

    heads = chuliu_edmonds_one_root(rooted)[1:] - 1
    return [int(head) if head >= 0 else word for word, head in enumerate(heads)]


def _finite_and_negative(scores: np.ndarray) -> np.ndarray:
    """The scores below zero, as the penalty against a second root needs them, and −inf bounded."""
    finite = np.isfinite(scores)
    if not finite.any():
        return np.full_like(scores, -1.0)
    shifted = np.where(finite, scores - scores[finite].max(), 0.0)
    forbidden = (shifted.min() - 1.0) * (len(scores) + 1)  # worse than any tree of allowed arcs
    return np.where(finite, shifted, forbidden) - 1.0
