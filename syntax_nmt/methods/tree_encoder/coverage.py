"""What attention has attended to, for each node of a tree (Chen et al., 2017, section 4)."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.gru import GATES, gru_step, square_matrices
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

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply C."""
        return square_matrices(self.hidden.weight)

    def of_vectors(self) -> JointProduct:
        """The product that maps C to the summand of keys, A, and to the GRU's hidden product."""
        return JointProduct(self.key, self.hidden, long=True)

    def of_children_too(self) -> RepeatedProduct:
        """The product that maps α and C of both children, the left one first, to their part of the
        GRU's input.
        """
        assert self.below is not None
        _, left, right = self.weight.weight.split(1, dim=1)
        of_left, of_right = split_after(self.dim, self.below.weight)
        return RepeatedProduct(torch.cat([left, of_left, right, of_right], dim=1).t(), long=True)

    def of_weights(self) -> RepeatedProduct:
        """The product that maps a node's own α to its part of the GRU's input."""
        return RepeatedProduct(self.weight.weight[:, :1].t(), long=True)


class CoverageSteps:
    """The steps of :class:`Coverage` over a batch: K hypotheses of each of B sentences.

    Args:
        given: B×N×3·dim, :attr:`Coverage.annotation` of the encoder's states.
        children: B×P×2, the columns of the children of the last P nodes; −1 = none, as of pads,
            whose vectors no node reads.
        hypotheses: K.
    """

    def __init__(self, layers: Coverage, given: Tensor, children: Tensor, hypotheses: int) -> None:
        self.layers, self.given = layers, given.unsqueeze(1)
        self._of_vectors, self._of_weights = layers.of_vectors(), layers.of_weights()
        self._below = layers.of_children_too() if layers.of_children else None
        chosen = children.long().clamp(min=0).flatten(1)[:, None, :, None]
        self._chosen = chosen.expand(-1, hypotheses, -1, 1 + layers.dim)
        words = given.size(1) - children.size(1)
        self._of_words = given.new_zeros(len(given), hypotheses, words, given.size(2))

    def read(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """What is added to the keys of attention, B×K×N×A, and the GRU's hidden product.

        Args:
            vectors: C, B×K×N×dim.
        """
        keys, hidden = self._of_vectors(vectors)  # in the order of Coverage.of_vectors
        return keys, hidden

    def after(self, vectors: Tensor, hidden: Tensor, weights: Tensor, state: Tensor) -> Tensor:
        """The vectors after a step, B×K×N×dim.

        Args:
            vectors: C before it, B×K×N×dim.
            hidden: of :meth:`read`.
            weights: α, B×K×N.
            state: s, B×K×C.
        """
        read = weights.to(vectors.dtype).unsqueeze(-1)
        inputs = self.given + self.layers.state(state).unsqueeze(2)
        inputs = inputs + self._of_weights(read.flatten(0, 2)).view_as(inputs)
        if self._below is not None:
            nodes = torch.cat([read, vectors], dim=-1)
            pairs = nodes.gather(2, self._chosen).view(-1, 2 * nodes.size(-1))
            phrases = self._below(pairs).view(*vectors.shape[:2], -1, inputs.size(-1))
            inputs = inputs + torch.cat([self._of_words, phrases], dim=2)
        flat = (each.flatten(0, 2) for each in (inputs, hidden, vectors))
        return gru_step(*flat).view_as(vectors)
