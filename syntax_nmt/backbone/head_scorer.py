"""A head of an attention whose logits come from modules of a method."""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class HeadScorer(nn.Module, ABC):
    """Queries and keys of one head, in place of those that the attention projects.

    The head keeps its values. Its logits pass through the same kernels, masks and caches as those
    of the other heads. The rows of the projections that it replaces get gradients of zero.

    Args:
        head: its number in the attention.
        head_dim: D, of the attention.
    """

    def __init__(self, head: int, head_dim: int) -> None:
        super().__init__()
        self.head, self.head_dim = head, head_dim

    @abstractmethod
    def queries(self, x: Tensor, projected: Tensor) -> Tensor:
        """The head's queries, T×B×W of any width. Logits are their products with the keys, over √D.

        Args:
            x: what the attention reads, T×B×C.
            projected: T×B×D, the queries of the usual attention, which these replace.
        """

    def keys(self, x: Tensor, projected: Tensor) -> Tensor:
        """The head's keys, as wide as the queries: its own.

        Args:
            x: S×B×C.
            projected: S×B×D.
        """
        return projected

    def with_queries(self, x: Tensor, projected: Tensor) -> Tensor:
        """The queries of all heads.

        Args:
            x: T×B×C.
            projected: of all heads, T×B×(H·D).
        """
        return self._put(self.queries(x, self._own(projected)), projected)

    def with_keys(self, x: Tensor, projected: Tensor) -> Tensor:
        """The keys of all heads.

        Args:
            x: S×B×C.
            projected: of all heads, S×B×(H·D).
        """
        return self._put(self.keys(x, self._own(projected)), projected)

    def _own(self, projected: Tensor) -> Tensor:
        return projected.unflatten(2, (-1, self.head_dim))[:, :, self.head]

    def _put(self, own: Tensor, projected: Tensor) -> Tensor:
        """All heads with this one's vectors; the narrower are filled up with zeros."""
        heads = projected.unflatten(2, (-1, self.head_dim))
        wider = own.size(2) - self.head_dim
        if wider > 0:
            heads = F.pad(heads, (0, wider))
        elif wider < 0:
            own = F.pad(own, (0, -wider))
        parts = heads[:, :, : self.head], own.to(heads).unsqueeze(2), heads[:, :, self.head + 1 :]
        return torch.cat(parts, dim=2).flatten(2)
