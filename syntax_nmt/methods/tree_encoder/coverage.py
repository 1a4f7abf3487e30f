"""What attention has attended to, for each node of a tree (Chen et al., 2017, section 4)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.gru import GATES, gru_step
from syntax_nmt.backbone.repeated_product import (
    JointProduct,
    RepeatedProduct,
    StepLinear,
    split_after,
)


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
        """The linear maps of a step, but those of nodes, which :class:`CoverageSteps` has."""
        return (self.state,)

    def of_vectors(self) -> JointProduct:
        """From C: what is added to the keys of attention, A, and the hidden product of the GRU."""
        return JointProduct(self.key, self.hidden, long=True)

    def of_nodes(self) -> RepeatedProduct:
        """From α and C of the left child, the right child, and the node itself: the GRU's input.

        The node's own C is not read here. Without children, α of the node is all that is read.
        """
        weight = self.weight.weight
        if self.below is not None:
            own, left, right = weight.split(1, dim=1)
            of_left, of_right = split_after(self.dim, self.below.weight)
            weight = torch.cat([left, of_left, right, of_right, F.pad(own, (0, self.dim))], dim=1)
        return RepeatedProduct(weight.t(), long=True)


class CoverageSteps:
    """The steps of :class:`Coverage` over a batch: K hypotheses of each of B sentences.

    Args:
        given: B×N×3·dim, :attr:`Coverage.annotation` of the encoder's states.
        near: of :func:`near`.
        hypotheses: K.
    """

    def __init__(self, layers: Coverage, given: Tensor, near: Tensor, hypotheses: int) -> None:
        self.layers, self.given = layers, given.unsqueeze(1)
        read = 1 + layers.dim
        self.near = near.flatten(1)[:, None, :, None].expand(-1, hypotheses, -1, read)
        self._of_no_node = given.new_zeros(len(given), hypotheses, 1, read)
        self._of_vectors, self._of_nodes = layers.of_vectors(), layers.of_nodes()

    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """What is added to the keys of attention, B×K×N×A, and the GRU's hidden product.

        Args:
            vectors: C, B×K×N×dim.
        """
        keys, hidden = self._of_vectors(vectors)
        return keys, hidden

    def after(self, vectors: Tensor, hidden: Tensor, weights: Tensor, state: Tensor) -> Tensor:
        """The vectors after a step, B×K×N×dim.

        Args:
            vectors: before it.
            hidden: of :meth:`read`.
            weights: α, B×K×N.
            state: s, B×K×C.
        """
        read = weights.to(vectors.dtype).unsqueeze(-1)
        if self.layers.of_children:
            own = torch.cat([read, vectors], dim=-1)
            read = torch.cat([own, self._of_no_node], dim=2).gather(2, self.near)
        before, products = vectors.flatten(0, 2), hidden.flatten(0, 2)  # B·K·N×…
        inputs = self.given + self.layers.state(state).unsqueeze(2)
        inputs = self._of_nodes(read.reshape(len(before), -1)) + inputs.flatten(0, 2)
        return gru_step(inputs, products, before).view_as(vectors)


def near(children: Tensor, nodes: int) -> Tensor:
    """The columns of the left child, the right child and the node itself, B×N×3; N = no node.

    Args:
        children: B×P×2, of the last P nodes; −1 = none.
        nodes: N.
    """
    pairs = F.pad(children.long(), (0, 0, nodes - children.size(1), 0), value=-1)
    own = torch.arange(nodes, device=children.device).view(1, -1, 1).expand(len(children), -1, -1)
    return torch.cat([pairs.masked_fill(pairs.lt(0), nodes), own], dim=2)
