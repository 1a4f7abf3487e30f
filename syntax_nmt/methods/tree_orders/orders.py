"""The orders in which a depth-first walk meets the words of dependency trees.

They are computed where the heads are, with comparisons of all pairs of tokens: no step waits.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class TreePlaces(NamedTuple):
    """Where a walk over the whole tree meets each token, B×S each, counted from 0.

    Attributes:
        pre: heads before their dependents.
        post: heads after their dependents.
    """

    pre: Tensor
    post: Tensor


def depth_first_places(heads: Tensor) -> TreePlaces:
    """The places of tokens in pre-order and in post-order; siblings as in the sentence.

    Before a token, a walk meets the subtrees of the earlier siblings of the token and of all above
    it. In pre-order it also meets all above the token, in post-order all below.

    Args:
        heads: B×S, the column of each token's head; a root's own, or −1. Roots are siblings.
    """
    columns = torch.arange(heads.size(1), device=heads.device)
    above = torch.where(heads.ge(0), heads.long(), columns)
    head = above.masked_fill(above.eq(columns), -1)
    # B×S×S: whether the second token is the first one or above it. Each round doubles the arcs.
    lineage = columns.unsqueeze(1).eq(columns).repeat(len(heads), 1, 1)
    for _ in range(heads.size(1).bit_length()):
        lineage = lineage | lineage.gather(1, above.unsqueeze(2).expand_as(lineage))
        above = above.gather(1, above)
    sizes = lineage.sum(dim=1)
    is_before = head.unsqueeze(2).eq(head.unsqueeze(1)) & columns.unsqueeze(1).gt(columns)
    siblings = _sum_of(sizes, is_before)
    met = _sum_of(siblings, lineage)
    return TreePlaces(met + lineage.sum(dim=2) - 1, met + sizes - 1)


def _sum_of(numbers: Tensor, chosen: Tensor) -> Tensor:
    """The sums of the numbers, B×S, that each row of B×S×S chooses."""
    return torch.where(chosen, numbers.unsqueeze(1), 0).sum(dim=2)


def reading_order(places: Tensor, first: Tensor, padding: Tensor) -> Tensor:
    """The columns of the tokens in the order of reading, then those of the pads, B×S.

    The pieces of a word stay together.

    Args:
        places: B×S, of :func:`depth_first_places`.
        first: B×S, the column of the first piece of each token's word.
        padding: B×S, True = pad.
    """
    of_words = places.gather(1, first).masked_fill(padding, padding.size(1))
    return of_words.argsort(dim=1, stable=True)
