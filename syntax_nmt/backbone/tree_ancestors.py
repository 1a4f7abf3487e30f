"""The ancestors of all words of a dependency tree, at once."""

import torch
from torch import Tensor


def ancestors(heads: Tensor, first: Tensor) -> Tensor:
    """Which words stand above each token, its own word among them.

    Pointers that double the steps upwards find all ancestors in ⌈log₂ S⌉ rounds; nothing waits for
    a device.

    Args:
        heads: B×S, the column of each token's head, a root's own; −1 = none.
        first: B×S, the column of the first subword of each token's word.

    Returns:
        B×S×S in float32: [b, i, a] = 1 if a is the first column of the word of i, or of an ancestor
        of it; meaningless in rows of tokens without a head.
    """
    length = heads.size(1)
    columns = torch.arange(length, device=heads.device)
    above = first.unsqueeze(2).eq(columns).float()
    jump = heads.long().clamp(min=0).gather(1, first)
    for _ in range((length - 1).bit_length()):
        above = torch.maximum(above, above.gather(1, jump.unsqueeze(2).expand_as(above)))
        jump = jump.gather(1, jump)
    return above


def arcs_between(above: Tensor) -> Tensor:
    """The number of arcs between the words of two tokens, B×S×S; 0 within a word.

    Where a sentence has several roots, one node above them connects the trees.

    Args:
        above: of :func:`ancestors`.
    """
    depth = above.sum(dim=2)
    with torch.autocast(above.device.type, enabled=False):  # bfloat16 does not count beyond 256
        shared = torch.matmul(above, above.transpose(1, 2))
    return depth.unsqueeze(2) + depth.unsqueeze(1) - 2 * shared
