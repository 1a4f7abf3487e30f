"""What attention has attended to, for each node of a tree (Chen et al., 2017, section 4)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.gru import GATES, gru_step
from syntax_nmt.backbone.repeated_product import StepLinear


class Coverage(nn.Module):
    """A vector for each node, which a GRU updates at every step and attention reads at the next.

    `C_t = GRU([α_t; h; s; α_t and C_{t−1} of both children], C_{t−1})`, with the state s before the
    step. Without children it is the coverage of words. A node without children has zeros in place
    of theirs.

    Args:
        dim: width of C.
        memory_dim: M, width of the encoder's states h.
        state_dim: width of s.
        attention_dim: A.
        of_children: read those of the children.
    """

    def __init__(
        self, dim: int, memory_dim: int, state_dim: int, attention_dim: int, of_children: bool
    ) -> None:
        super().__init__()
        self.dim, self.of_children = dim, of_children
        nodes = 3 if of_children else 1
        self.annotation = nn.Linear(memory_dim, GATES * dim)
        self.state = StepLinear(state_dim, GATES * dim, bias=False)
        self.weight = nn.Linear(nodes, GATES * dim, bias=False)
        self.hidden = nn.Linear(dim, GATES * dim)
        self.below = nn.Linear(2 * dim, GATES * dim, bias=False) if of_children else None
        self.key = nn.Linear(dim, attention_dim, bias=False)

    def step_layers(self) -> tuple[StepLinear, ...]:
        """The linear maps of a step, but those of nodes: their inputs would be copied at length."""
        return (self.state,)

    def forward(
        self, before: Tensor, weights: Tensor, state: Tensor, given: Tensor, children: Tensor
    ) -> Tensor:
        """The vectors after a step, B×K×N×dim, of K hypotheses of B sentences.

        Args:
            before: B×K×N×dim.
            weights: α, B×K×N.
            state: s, B×K×C.
            given: B×N×3·dim, :attr:`annotation` of the encoder's states.
            children: B×P×2, the columns of the children of the last P nodes; −1 = none.
        """
        read = weights.to(before.dtype).unsqueeze(-1)
        inputs = given.unsqueeze(1) + self.state(state).unsqueeze(2)
        if self.below is not None:
            leaves = (0, 0, before.size(2) - children.size(1), 0)  # have zeros
            weights_below = _of_children(read, children)
            read = torch.cat([read, F.pad(weights_below, leaves)], dim=-1)
            inputs = inputs + F.pad(self.below(_of_children(before, children)), leaves)
        inputs = inputs + self.weight(read)
        flat = (each.flatten(0, -2) for each in (inputs, self.hidden(before), before))
        return gru_step(*flat).view_as(before)


def _of_children(values: Tensor, children: Tensor) -> Tensor:
    """The values of both children of the last P nodes, B×K×P×2·width; 0 where there are none.

    Args:
        values: B×K×N×width.
        children: B×P×2.
    """
    batch, hypotheses, _, width = values.shape
    chosen = children.long().clamp(min=0).flatten(1)[:, None, :, None]
    found = values.gather(2, chosen.expand(-1, hypotheses, -1, width))
    found = found.view(batch, hypotheses, -1, 2, width)
    return found.masked_fill(children.lt(0)[:, None, :, :, None], 0).flatten(-2)
