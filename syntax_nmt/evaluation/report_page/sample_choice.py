"""Which sentences of a test set to show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def choose_samples(lengths: Sequence[int], scores: np.ndarray, count: int) -> list[int]:
    """One sentence of each of several groups of equal size, from short sentences to long ones.

    Of several systems it is the sentence whose scores lie furthest apart; of a single one that
    with the middle score of its group. The first of equals is taken: the choice is always the same.

    Args:
        lengths: of each sentence.
        scores: systems × sentences.
        count: how many, if there are as many sentences.

    Returns:
        Positions, shortest sentence first.
    """
    order = np.argsort(lengths, kind="stable")
    groups = [np.sort(group) for group in np.array_split(order, max(1, count)) if len(group)]
    several = len(scores) > 1
    chosen = []
    for group in groups[:count]:
        of_group = scores[:, group]
        if several:
            best = np.argmax(of_group.max(axis=0) - of_group.min(axis=0))
        else:
            best = np.argsort(of_group[0], kind="stable")[(len(group) - 1) // 2]
        chosen.append(int(group[best]))
    return chosen
