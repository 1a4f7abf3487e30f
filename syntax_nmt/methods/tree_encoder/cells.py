"""The gated units of tree encoders (Chen et al., ACL 2017, sections 3.1 and 3.2)."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.gru import GATES, gru_step, square_matrices
from syntax_nmt.backbone.repeated_product import RepeatedProduct, StepLinear, repeated, split_after
from syntax_nmt.methods.tree_encoder.levels import Levels

_OF_MERGE = 5  # r_l, r_r, z_l, z_r, z

Products = tuple[RepeatedProduct, RepeatedProduct]


class GatedMerge(nn.Module):
    """The state of a node from those of its two children.

    `r_l, r_r, z_l, z_r, z = σ(U_l h_l + U_r h_r + b)`, five independent gates;
    `h̃ = tanh(r_l ∘ W_l h_l + r_r ∘ W_r h_r + b')`; `h = z_l ∘ h_l + z_r ∘ h_r + z ∘ h̃`.

    Args:
        width: D, of all states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        rows = (_OF_MERGE + 1) * width  # the gates, then the candidate
        self.left = nn.Linear(width, rows, bias=False)
        self.right = nn.Linear(width, rows, bias=False)
        self.bias = nn.Parameter(torch.zeros(rows))

    def forward(self, children: Tensor, products: Products | None = None) -> Tensor:
        """The states of N nodes, N×D.

        Args:
            children: 2×N×D, left and right.
            products: of :meth:`products`, for all calls with these weights; None = of one call.
        """
        width = children.size(2)
        of_gates, of_candidates = products or self.products()
        gates = of_gates(torch.cat([*children], dim=1)).sigmoid().unflatten(1, (_OF_MERGE, width))
        resets, keeps = split_after(2, gates.transpose(0, 1), dim=0)
        shift = self.bias[_OF_MERGE * width :]
        new = (resets * of_candidates(children)).sum(dim=0, keepdim=True).add(shift).tanh()
        return (keeps * torch.cat([children, new.to(children.dtype)])).sum(dim=0)

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply the children's states."""
        return square_matrices(self.left.weight, self.right.weight, count=_OF_MERGE + 1)

    def products(self) -> Products:
        """Two products: of both children, N×2·D, the logits of the five gates; of each child,
        2×N×D, W_l h_l and W_r h_r.
        """
        (left, of_left), (right, of_right) = (
            split_after(_OF_MERGE * layer.in_features, layer.weight, dim=0)
            for layer in (self.left, self.right)
        )
        gates = RepeatedProduct(torch.cat([left, right], dim=1).t(), self.bias[: len(left)])
        return gates, RepeatedProduct(torch.stack([of_left, of_right]).transpose(1, 2))


class UpwardStates(nn.Module):
    """The states of all nodes from the bottom up: tokens keep theirs, phrases merge children's.

    Args:
        width: D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.merge = GatedMerge(width)

    def forward(self, tokens: Tensor, levels: Levels) -> Tensor:
        """The table of all nodes.

        Args:
            tokens: B×S×D.
        """
        table, products = tokens.flatten(0, 1), self.merge.products()
        for rows in levels.children:
            chosen = table.index_select(0, rows.t().flatten())  # the left ones, then the right ones
            children = chosen.view(2, len(rows), tokens.size(2))
            table = torch.cat([table, self.merge(children, products)])
        return table


class DownwardStates(nn.Module):
    """The states of all nodes from the top down: `h↓ = GRU(h↑, h↓ of the parent)`.

    The left child and the root have one GRU, the right child another one; the root's begins at 0.

    Args:
        width: D.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.left = nn.Linear(width, GATES * width)
        self.right = nn.Linear(width, GATES * width)
        # Of left children, then of right ones.
        self.hidden = StepLinear(width, 2 * GATES * width)

    def forward(self, table: Tensor, levels: Levels) -> Tensor:
        """The table of all nodes, 0 at those of no tree.

        Args:
            table: h↑ of all nodes.
        """
        roots, highest_first = levels.roots, torch.cat(levels.children[::-1])  # N×2
        rows = torch.cat([roots, highest_first.flatten()])
        lefts, rights = highest_first.unbind(1)
        of_root, of_left = split_after(
            len(roots), self.left(table.index_select(0, torch.cat([roots, lefts]))), dim=0
        )
        of_children = torch.stack([of_left, self.right(table.index_select(0, rights))], dim=1)

        places = torch.zeros(len(table), dtype=torch.long, device=table.device).index_copy(
            0, rows, torch.arange(len(rows), device=table.device)
        )
        nothing = table.new_zeros(len(roots), table.size(1))
        end = len(table)
        with repeated(self.hidden):
            states = gru_step(of_root, self.hidden(nothing).chunk(2, dim=1)[0], nothing)
            states = states.masked_fill(~levels.has_root.unsqueeze(1), 0).to(table.dtype)
            for inputs in of_children.split(levels.sizes[::-1]):
                parents = states.index_select(0, places[end - len(inputs) : end])
                end -= len(inputs)
                hidden = self.hidden(parents).view_as(inputs).flatten(0, 1)
                of_both = parents.repeat_interleave(2, dim=0)
                new = gru_step(inputs.flatten(0, 1), hidden, of_both)
                states = torch.cat([states, new])
        return torch.zeros_like(table).index_copy(0, rows, states.to(table.dtype))

    def recurrent_matrices(self) -> Iterator[Tensor]:
        """The matrices by which gates multiply the parent's state."""
        return square_matrices(self.hidden.weight, count=2 * GATES)


def phrases_of(table: Tensor, levels: Levels) -> Tensor:
    """The states of the merges, B×P×D, 0 where there is none.

    Args:
        table: of all nodes.
    """
    missing = levels.merges.numel() - levels.count
    rows = F.pad(table, (0, 0, 0, missing)).index_select(0, levels.merges.flatten())
    return rows.view(*levels.merges.shape, -1)
