"""The relation network layer (Zhang et al., COLING 2018, section 3)."""

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.packing import PackedRows
from syntax_nmt.methods.relation_network.convolutions import SLOPE, WordConvolutions
from syntax_nmt.methods.relation_network.propagation import GraphPropagation


class RelationNetworkLayer(nn.Module):
    """Refines the words of a sentence by their relations with one another.

    Convolutions over the words (equation 7), graph propagation between all pairs of them (equations
    8 and 9) and an MLP of 2 layers back to the width of the words, each followed by LeakyReLU(0.1)
    (equation 10). In evaluation mode nothing depends on pads or on other sentences of the batch; in
    training the batch norms after the convolutions use all real words.

    Args:
        width: C.
        kernels: width and number of filters of each convolution.
        hidden_dim: width of both MLPs.
        parallel_convolutions: see :class:`WordConvolutions`.
        norm_before_activation: see :class:`WordConvolutions`.
        block: see :class:`GraphPropagation`.
        kept_pairs: see :class:`GraphPropagation`.
    """

    def __init__(
        self,
        width: int,
        kernels: Sequence[tuple[int, int]],
        hidden_dim: int,
        parallel_convolutions: bool = False,
        norm_before_activation: bool = False,
        block: int | None = None,
        kept_pairs: int | None = None,
    ) -> None:
        super().__init__()
        self.convolutions = WordConvolutions(
            width, kernels, parallel_convolutions, norm_before_activation
        )
        self.graph_propagation = GraphPropagation(
            self.convolutions.output_dim, hidden_dim, block, kept_pairs
        )
        self.hidden = nn.Linear(hidden_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, width)

    def forward(self, states: Tensor, rows: PackedRows) -> Tensor:
        """The words, refined by their relations.

        Args:
            states: B×S×C; values at pads are not read.
            rows: where the batch's words are.

        Returns:
            B×S×C, zeros at pads.
        """
        words = rows.take(self.convolutions(states, rows))
        received = self.graph_propagation(words, rows)
        hidden = F.leaky_relu_(self.hidden(received), SLOPE)
        return rows.put(F.leaky_relu_(self.output(hidden), SLOPE))
