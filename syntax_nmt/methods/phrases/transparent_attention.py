"""A mixture of all encoder layers for each decoder layer (Bapna et al., 2018)."""

from collections.abc import Sequence

import torch
from fairseq.modules import FairseqDropout
from torch import Tensor, nn


class TransparentAttention(nn.Module):
    """`Σ_i softmax_i(w_ij) · memory_i` for decoder layer j (Xu et al., 2020, equation 6).

    The embeddings are memory 0, encoder layer i's output is memory i. All start with equal weights.

    Args:
        memories: L+1 for L encoder layers.
        dropout: on the logits w, in training.
    """

    def __init__(self, memories: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(memories, layers))
        self.dropout_module = FairseqDropout(dropout, module_name=type(self).__name__)

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        memories, layers = self.logits.shape
        return f"memories={memories}, layers={layers}"

    def forward(self, memories: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The mixture of each decoder layer.

        Args:
            memories: L+1 tensors of one shape.

        Returns:
            one tensor of that shape for each decoder layer.
        """
        weights = torch.softmax(self.dropout_module(self.logits), dim=0).type_as(memories[0])
        stacked = torch.stack(list(memories))
        mixed = torch.matmul(weights.t(), stacked.flatten(1))  # one product for all layers
        return mixed.view(-1, *memories[0].shape).unbind(0)
