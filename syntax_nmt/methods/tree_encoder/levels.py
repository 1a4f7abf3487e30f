"""The order in which the nodes of a batch of binary trees are computed: level by level.

Nodes are rows of one table: the tokens, sentence by sentence, then the merges of all sentences by
height. The number of merges of each height comes from the host, so that no step waits.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


class Levels:
    """Where nodes and their children stand in the table.

    Args:
        trees: B×P×3: left and right child, and height of each merge, −1 = none; children are
            columns, or S + k for merge k.
        sizes: the number of merges of each height, from 1.
        padding: B×S, True = pad.

    Attributes:
        tokens: number of rows of tokens, B·S.
        count: number of merges, of all sentences.
        sizes: of them at each height, from 1; a single 0 where there are none.
        children: of each level from the lowest, N×2 rows.
        merges: B×P, the row of each merge; beyond the table where there is none.
        roots: B, the row of the root; EOS where a sentence has no tree.
        has_root: B, False = the sentence has no tree. A single token is its own tree.
        last: B, the column of the last token, EOS.
    """

    def __init__(self, trees: Tensor, sizes: Sequence[int], padding: Tensor) -> None:
        batch, merges, _ = trees.shape
        columns, device = padding.size(1), trees.device
        self.tokens, self.count = padding.numel(), sum(sizes)
        self.sizes = tuple(sizes) or (0,)
        numbers = trees.long()
        heights = numbers[..., 2]
        by_height = heights.masked_fill(heights < 0, merges + 1).flatten().argsort(stable=True)
        rank = torch.empty_like(by_height).scatter(
            0, by_height, torch.arange(batch * merges, device=device)
        )
        self.merges = self.tokens + rank.view(batch, merges)
        first = torch.arange(batch, device=device).unsqueeze(1) * columns
        own = torch.cat([first + torch.arange(columns, device=device), self.merges], dim=1)
        pairs = numbers[..., :2].flatten(1).clamp(min=0)
        rows = own.gather(1, pairs).view(-1, 2)[by_height]
        self.children = rows[: self.count].split(self.sizes)
        self.last = torch.where(padding, 0, torch.arange(columns, device=device)).amax(dim=1)
        self.roots, self.has_root = self._roots(heights.gt(0), own, padding)

    def _roots(self, is_merge: Tensor, own: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        columns = torch.arange(padding.size(1), device=padding.device)
        first = torch.where(padding, padding.size(1) - 1, columns).amin(dim=1)
        count, words = is_merge.sum(dim=1), (~padding).sum(dim=1) - 1
        of_merge = padding.size(1) + count - 1
        is_single = words.eq(1)
        root = torch.where(is_single, first, self.last)
        root = torch.where(count.gt(0), of_merge, root)
        return own.gather(1, root.unsqueeze(1)).squeeze(1), count.gt(0) | is_single
