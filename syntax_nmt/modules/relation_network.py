"""The relation network layer (Zhang et al., COLING 2018, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.modules.graph_propagation import GraphPropagation
from syntax_nmt.modules.word_convolutions import SLOPE, WordConvolutions


class RelationNetworkLayer(nn.Module):
    """Refines the words of a sentence by their relations with one another.

    Convolutions over the words (equation 7), graph propagation between all pairs of them
    (equations 8 and 9) and an MLP of 2 layers back to the width of the words, each followed by
    LeakyReLU(0.1) (equation 10). In evaluation mode nothing depends on pads or on the other
    sentences of the batch; in training the batch norms after the convolutions see all real words.

    Args:
        width: C.
        kernels: width and number of filters of each convolution.
        hidden_dim: H, width of both MLPs.
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
        kept_pairs: int = 2**16,
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

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """The words with what they have received from one another.

        Args:
            states: B×S×C; what pads hold is not read.
            padding: B×S, True = pad, on either side.

        Returns:
            B×S×C, zeros at pads.
        """
        convolved = self.convolutions(states, padding)
        places, sizes = _words_by_size(padding)
        words = convolved.flatten(0, 1).index_select(0, places)
        received = self.graph_propagation(words, sizes)
        hidden = F.leaky_relu_(self.hidden(received), SLOPE)
        output = F.leaky_relu_(self.output(hidden), SLOPE)
        flat = output.new_zeros(padding.numel(), output.size(1)).index_copy(0, places, output)
        return flat.view(*padding.shape, -1)


def _words_by_size(padding: Tensor) -> tuple[Tensor, list[int]]:
    """Where the real words of a batch are, sentence by sentence, short sentences first.

    Args:
        padding: B×S, True = pad.

    Returns:
        The places in the flattened batch, and the sizes of the sentences in the same order.
    """
    sizes, order = (~padding).sum(dim=1).sort(stable=True)
    sentence, column = (~padding[order]).nonzero(as_tuple=True)
    return order[sentence] * padding.size(1) + column, sizes.tolist()
