"""Relations of two words as numbers in the logits of self-attention."""

import torch
from torch import Tensor, nn


class StructuralBias(nn.Module):
    """A number for each layer, head and relation from −R to R; farther ones are alike.

    The numbers begin at 0: the first update sees the attention without them.

    Args:
        layers: how many.
        num_heads: H.
        clip: R.
    """

    def __init__(self, layers: int, num_heads: int, clip: int) -> None:
        super().__init__()
        self.clip = clip
        self.table = nn.Parameter(torch.zeros(layers, num_heads, 2 * clip + 1))

    def forward(self, relation: Tensor, there: Tensor) -> list[Tensor]:
        """The bias of each layer, B×H×S×S; 0 of pairs one of which has no head.

        Args:
            relation: B×S×S.
            there: B×S, True = the token has a head.
        """
        index = relation.clamp(-self.clip, self.clip) + self.clip
        neutral = ~(there.unsqueeze(2) & there.unsqueeze(1))
        return [
            of_layer[:, index].transpose(0, 1).masked_fill(neutral.unsqueeze(1), 0.0)
            for of_layer in self.table
        ]
