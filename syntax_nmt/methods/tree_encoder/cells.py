"""The gated units of tree encoders (Chen et al., ACL 2017, sections 3.1 and 3.2)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.gru import GATES, gru_step
from syntax_nmt.methods.tree_encoder.levels import Levels

_OF_MERGE = 5  # r_l, r_r, z_l, z_r, z


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

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """The states of N nodes, N×D.

        Args:
            left: N×D.
            right: N×D.
        """
        split = _OF_MERGE * left.size(1)
        (gates, from_left), (of_right, from_right), (bias, shift) = (
            (each[..., :split], each[..., split:])
            for each in (self.left(left), self.right(right), self.bias)
        )
        opened = torch.sigmoid(gates + of_right + bias).chunk(_OF_MERGE, dim=1)
        reset_left, reset_right, keep_left, keep_right, renew = opened
        new = torch.tanh(reset_left * from_left + reset_right * from_right + shift)
        return keep_left * left + keep_right * right + renew * new


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
        table = tokens.flatten(0, 1)
        for children in levels.children:
            left, right = (table.index_select(0, rows) for rows in children.unbind(1))
            table = torch.cat([table, self.merge(left, right)])
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
        self.hidden = nn.Linear(width, 2 * GATES * width)  # of left children, then of right ones

    def forward(self, table: Tensor, levels: Levels) -> Tensor:
        """The table of all nodes, 0 at those of no tree.

        Args:
            table: h↑ of all nodes.
        """
        highest_first = levels.children[::-1]
        lefts = [children[:, 0] for children in highest_first]
        rights = [children[:, 1] for children in highest_first]
        sizes = levels.sizes[::-1]
        to_left = self.left(table.index_select(0, torch.cat([levels.roots, *lefts])))
        to_right = self.right(table.index_select(0, torch.cat(rights)))
        of_root, *of_left = to_left.split((len(levels.roots), *sizes))
        of_right = to_right.split(sizes)

        nothing = table.new_zeros(len(levels.roots), table.size(1))
        states = gru_step(of_root, self.hidden(nothing).chunk(2, dim=1)[0], nothing)
        states = states.masked_fill(~levels.has_root.unsqueeze(1), 0).to(table.dtype)
        pairs = [rows for pair in zip(lefts, rights) for rows in pair]
        rows = torch.cat([levels.roots, *pairs])
        places = torch.zeros(len(table), dtype=torch.long, device=table.device).index_copy(
            0, rows, torch.arange(len(rows), device=table.device)
        )
        end = len(table)
        for size, left, right in zip(sizes, of_left, of_right):
            parents = states.index_select(0, places[end - size : end])
            end -= size
            for inputs, hidden in zip((left, right), self.hidden(parents).chunk(2, dim=1)):
                states = torch.cat([states, gru_step(inputs, hidden, parents)])
        return torch.zeros_like(table).index_copy(0, rows, states.to(table.dtype))


def phrases_of(table: Tensor, levels: Levels) -> Tensor:
    """The states of the merges, B×P×D, 0 where there is none.

    Args:
        table: of all nodes.
    """
    missing = levels.merges.numel() - levels.count
    rows = F.pad(table, (0, 0, 0, missing)).index_select(0, levels.merges.flatten())
    return rows.view(*levels.merges.shape, -1)
