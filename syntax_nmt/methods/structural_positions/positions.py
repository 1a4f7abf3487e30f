"""Absolute and relative positions in the dependency tree (Wang et al., 2019)."""

import torch
from fairseq.modules import SinusoidalPositionalEmbedding
from fairseq.utils import make_positions
from torch import Tensor, nn

from syntax_nmt.methods.structural_positions.options import TANH


class StructuralEmbedding(nn.Module):
    """What a depth adds to embeddings that fairseq adds positions p(i) to.

    | fusion | sum of both |
    |---|---|
    | tanh | `tanh(U p(i) + V p(a_i) + b)` |
    | add | `p(i) + p(a_i)` |

    p is fairseq's table of sinusoids. A token without a head, such as EOS, has no p(a).

    Args:
        dim: C.
        fusion: one of :data:`~syntax_nmt.methods.structural_positions.options.FUSIONS`.
        longest: the most tokens of a sentence.
        pad: the index of the pad, from which fairseq counts positions.
    """

    positions: Tensor
    depths: Tensor

    def __init__(self, dim: int, fusion: str, longest: int, pad: int) -> None:
        super().__init__()
        self.pad, self.fuses = pad, fusion == TANH
        table = SinusoidalPositionalEmbedding.get_embedding
        self.register_buffer("depths", table(longest, dim), persistent=False)
        if self.fuses:
            self.register_buffer("positions", table(longest + pad + 1, dim, pad), persistent=False)
            self.of_position = nn.Linear(dim, dim, bias=False)
            self.of_depth = nn.Linear(dim, dim)
            for layer in (self.of_position, self.of_depth):
                nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(self.of_depth.bias)

    def forward(self, tokens: Tensor, depth: Tensor, there: Tensor, like: Tensor) -> Tensor:
        """What is added beside p(i), B×S×C.

        Args:
            tokens: B×S.
            depth: a, B×S.
            there: B×S, True = the token has a head.
            like: gives the type.
        """
        # Each row of a table is multiplied once a batch, whoever reads it.
        length = tokens.size(1)
        of_depths = self.depths[:length].to(like)
        if not self.fuses:
            return of_depths[depth] * there.unsqueeze(-1)
        rows = self.positions[: length + self.pad + 1].to(like)
        places = make_positions(tokens, self.pad)
        bias = self.of_depth.bias
        both = self.of_position(rows)[places] + bias
        both = both + (self.of_depth(of_depths) - bias)[depth] * there.unsqueeze(-1)
        return torch.tanh(both) - rows[places]


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
