"""The biaffine parser whose weights are those of an attention head (Strubell et al., 2018)."""

import math

import torch
from torch import Tensor, nn

from syntax_nmt.backbone.head_scorer import HeadScorer
from syntax_nmt.methods.arc_labels import ArcView


class ParserHead(HeadScorer):
    """`s_ij = [d_i; 1] W e_j` in place of the logits of an attention head.

    d and e are an :class:`~syntax_nmt.methods.arc_labels.ArcView` each, of the dependent and of the
    head. The bias on the dependent's side alone makes some tokens likelier heads than others. W
    begins as zeros: the head attends evenly. As `s_ij` is a product of `Wᵀ[d_i; 1]` and `e_j`,
    these are the queries and keys of the head.

    Args:
        embed_dim: C.
        head_dim: D.
        dim: width of d and e.
    """

    def __init__(self, embed_dim: int, head_dim: int, dim: int) -> None:
        super().__init__(0, head_dim)
        self.dependent = ArcView(embed_dim, dim)
        self.governor = ArcView(embed_dim, dim)
        self.biaffine = nn.Linear(dim, dim)  # its bias is the row of W that the 1 meets
        for view in (self.dependent, self.governor):
            view.begin()
        nn.init.zeros_(self.biaffine.weight)
        nn.init.zeros_(self.biaffine.bias)

    def queries(self, x: Tensor, projected: Tensor) -> Tensor:
        """`Wᵀ[d; 1] √D`, T×B×dim.

        Args:
            x: T×B×C.
            projected: not read.
        """
        asked: Tensor = self.biaffine(self.dependent(x))
        return asked * math.sqrt(self.head_dim)

    def keys(self, x: Tensor, projected: Tensor) -> Tensor:
        """e, S×B×dim.

        Args:
            x: S×B×C.
            projected: not read.
        """
        seen: Tensor = self.governor(x)
        return seen


class TreeInjection(nn.Module):
    """A bias with which the parser's head attends to each token's head in a given tree.

    Tokens without a head, such as EOS, keep the parser's weights.

    Args:
        num_heads: H.
        always: inject in translation, too.
        in_training: only as long as the model trains.
    """

    def __init__(self, num_heads: int, always: bool, in_training: bool) -> None:
        super().__init__()
        self.num_heads, self.always, self.in_training = num_heads, always, in_training

    def extra_repr(self) -> str:
        """When it injects."""
        return "always" if self.always else "in training" if self.in_training else "never"

    @property
    def acts(self) -> bool:
        """Whether this forward pass reads given trees."""
        return self.always or (self.in_training and self.training)

    def forward(self, heads: Tensor, like: Tensor) -> Tensor:
        """−inf in the first head where a token has another head; otherwise 0; B×H×S×S.

        Args:
            heads: B×S, the column of each token's head, a root's own; −1 = none.
            like: gives the type.
        """
        columns = torch.arange(heads.size(1), device=heads.device)
        others = heads.unsqueeze(2).ne(columns) & heads.ge(0).unsqueeze(2)
        bias = like.new_zeros(len(heads), self.num_heads, *others.shape[1:])
        bias[:, 0].masked_fill_(others, float("-inf"))
        return bias
