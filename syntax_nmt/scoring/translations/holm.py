"""Holm's adjustment of p-values for the number of comparisons."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (1979): the k-th smallest of m is multiplied by m − k + 1.

    An adjusted value is never below that of a smaller p-value, nor above 1.

    Args:
        p_values: of all comparisons.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = least
    return adjusted
