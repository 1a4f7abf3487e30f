"""A layer of graph convolution over a dependency tree (Bastings et al., 2017, section 3)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from syntax_nmt.methods.graph_convolution.options import BOTH, IN, OUT

DIRECTIONS = (IN, OUT)


@dataclass(frozen=True)
class Arcs:
    """The arcs of a batch: one at most from each token's head, so label and head are per token.

    Attributes:
        heads: B×S, the column of each token's head; its own where it has none.
        labels: B×S, from 0.
        there: B×S, True = the token has a head other than itself.
    """

    heads: Tensor
    labels: Tensor
    there: Tensor


class GraphConvolution(nn.Module):
    """`h'_v = ReLU(Σ_u g_uv (W_dir(u,v) h_u + b_lab(u,v)))` over dependents, head and v itself.

    `g_uv = σ(ŵ_dir(u,v) · h_u + b̂_lab(u,v))` is read from the sender u. W and ŵ depend on the
    direction; b and b̂ on label and direction; the loop has its own. Messages are sums, not means.

    The biases of gates begin as 1, so that messages pass (σ(1) = 0.73), others as 0. W and ŵ of all
    D directions and of the loop are drawn as one matrix, uniformly within
    ±√(6 / (C + (D + 1)(C + 1))). Where D is 2 this is √2 below Xavier's bound of each W, √(6 / 2C).

    On a CPU messages are gathered at dependents and added up at heads, which took less time than
    products with a B×S×S matrix, for sentences of 20 to 250 tokens. On a GPU, where such sums
    depend on the order of threads, products take their place. Both kernels add up numbers of 16
    bits in float32.

    Args:
        width: C, also of the output.
        labels: R.
        arcs: directions beside the loop: `both`, `in`, `out` or `none`.
        gated: with g; otherwise g = 1.
        edge_dropout: probability p that an arc is left out in training; each direction of it apart.
            Messages along kept arcs are divided by 1 − p.
        input_width: of h, C unless given.
    """

    def __init__(
        self,
        width: int,
        labels: int,
        arcs: str = BOTH,
        gated: bool = True,
        edge_dropout: float = 0.0,
        input_width: int | None = None,
    ) -> None:
        super().__init__()
        self.width, self.gated, self.edge_dropout = width, gated, edge_dropout
        self.directions = tuple(each for each in DIRECTIONS if arcs in (BOTH, each))
        ways = len(self.directions) + 1  # the loop is last
        self.projection = nn.Linear(input_width or width, ways * (width + gated), bias=False)
        nn.init.xavier_uniform_(self.projection.weight)
        self.loop_bias = nn.Parameter(torch.zeros(width))
        self.label_bias = nn.ParameterList(
            nn.Parameter(torch.zeros(labels, width)) for _ in self.directions
        )
        if gated:
            self.loop_gate = nn.Parameter(torch.ones(1))
            self.label_gate = nn.ParameterList(
                nn.Parameter(torch.ones(labels)) for _ in self.directions
            )

    def extra_repr(self) -> str:
        """Width and directions."""
        return f"{self.width}, arcs={'+'.join(self.directions) or 'none'}, gated={self.gated}"

    def forward(self, h: Tensor, arcs: Arcs, of_words: Arcs | None = None) -> Tensor:
        """The states after messages, B×S×C.

        Args:
            h: B×S×C.
            of_words: further arcs, along which only heads send.
        """
        messages, gates = self._projected(h)
        total = messages[-1] + self.loop_bias
        if self.gated:
            total = total * torch.sigmoid(gates[-1] + self.loop_gate).unsqueeze(2)
        for place, direction in enumerate(self.directions):
            gate = self._gate(direction, place, gates, arcs)
            total = total + self._received(direction, place, messages[place], gate, arcs)
            if of_words is not None and direction == OUT:
                gate = self._gate(direction, place, gates, of_words)
                total = total + self._received(direction, place, messages[place], gate, of_words)
        return torch.relu(total)

    def gates(self, h: Tensor, arcs: Arcs) -> dict[str, Tensor]:
        """g of each token's arc to its head by direction, B×S; 0 where it has none.

        Args:
            h: B×S×C.
        """
        _, gates = self._projected(h)
        return {
            direction: self._gate(direction, place, gates, arcs)
            for place, direction in enumerate(self.directions)
        }

    def _projected(self, h: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """W h, B×S×C, and ŵ · h, B×S, of each direction and the loop."""
        ways = len(self.directions) + 1
        parts = self.projection(h).split([self.width] * ways + [1] * ways * self.gated, dim=2)
        return list(parts[:ways]), [part.squeeze(2) for part in parts[ways:]]

    def _gate(self, direction: str, place: int, gates: list[Tensor], arcs: Arcs) -> Tensor:
        """g of each token's arc to its head; the sender is the token (in), or its head (out)."""
        gate = arcs.there.to(self.projection.weight)
        if self.gated:
            sent = gates[place] if direction == IN else gates[place].gather(1, arcs.heads)
            gate = gate * torch.sigmoid(sent + self.label_gate[place][arcs.labels])
        if self.training and self.edge_dropout:
            kept = 1 - self.edge_dropout
            gate = gate * (torch.rand_like(gate) < kept) / kept
        return gate

    def _received(
        self, direction: str, place: int, messages: Tensor, gate: Tensor, arcs: Arcs
    ) -> Tensor:
        """The sum of messages of one direction at each token, B×S×C."""
        bias, gate = self.label_bias[place][arcs.labels], gate.unsqueeze(2)
        if direction == OUT:
            return gate * (_of_heads(messages, arcs.heads) + bias)
        return _sums_at_heads(gate * (messages + bias), arcs.heads)


def _of_heads(messages: Tensor, heads: Tensor) -> Tensor:
    """For each token what its head sends, B×S×C.

    Args:
        messages: B×S×C.
        heads: B×S.
    """
    if messages.is_cuda:
        return torch.bmm(_selection(heads, messages), messages)
    return messages.gather(1, heads.unsqueeze(2).expand_as(messages))


def _sums_at_heads(messages: Tensor, heads: Tensor) -> Tensor:
    """For each token the sum of what its dependents send, B×S×C.

    Args:
        messages: B×S×C.
        heads: B×S.
    """
    if messages.is_cuda:
        return torch.bmm(_selection(heads, messages).transpose(1, 2), messages)
    return torch.zeros_like(messages).scatter_add(
        1, heads.unsqueeze(2).expand_as(messages), messages
    )


def _selection(heads: Tensor, like: Tensor) -> Tensor:
    """B×S×S: 1 in the column of each token's head.

    Args:
        heads: B×S.
        like: gives the type.
    """
    columns = torch.arange(heads.size(1), device=heads.device)
    return heads.unsqueeze(2).eq(columns).to(like)
