"""Which sentence lends its structure to which."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

NOBODY = -1


def draw_lenders(sizes: Sequence[int], random: Random) -> list[int]:
    """The sentence that lends its structure to each; no sentence borrows its own.

    Sentences of one length lend to each other in a circle that is drawn at random, so that each of
    them lends once. The only one of its length borrows from one of the nearest greater length, or
    where there is none, of the nearest smaller.

    Args:
        sizes: words of each sentence; 0 = it has no annotation, and neither lends nor borrows.

    Returns:
        The lenders' places; `NOBODY` for sentences without annotation.

    Raises:
        ValueError: a single sentence has annotation.
    """
    places: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        if size:
            places.setdefault(size, []).append(place)
    lengths = sorted(places)
    lenders = [NOBODY] * len(sizes)
    for rank, length in enumerate(lengths):
        group = places[length]
        if len(group) > 1:
            circle = random.sample(group, len(group))
            for borrower, lender in zip(circle, [*circle[1:], circle[0]]):
                lenders[borrower] = lender
        elif len(lengths) == 1:
            raise ValueError("a single sentence has annotation, and there is no other to lend it")
        else:
            nearest = lengths[rank + 1] if rank + 1 < len(lengths) else lengths[rank - 1]
            lenders[group[0]] = random.choice(places[nearest])
    return lenders
