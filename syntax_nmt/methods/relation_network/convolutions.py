"""Convolutions over the words of padded sentences (Zhang et al., 2018, equation 7)."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from syntax_nmt.backbone.masked_batch_norm import MaskedBatchNorm
from syntax_nmt.backbone.packing import PackedRows

SLOPE = 0.1  # of LeakyReLU below zero, everywhere in the relation network


class WordConvolution(nn.Module):
    """One convolution over words: `BN(LeakyReLU(W [x_{i−⌊(k−1)/2⌋} ; … ] + b))`.

    Zeros on both sides of the sentence keep its length.

    Args:
        input_dim: channels of a word.
        kernel: k, the words that a filter sees.
        output_dim: number of filters.
        norm_before_activation: `LeakyReLU(BN(W [ … ]))`, as the authors' released code has it;
            the norm's own bias then replaces b.
    """

    def __init__(
        self, input_dim: int, kernel: int, output_dim: int, norm_before_activation: bool = False
    ) -> None:
        super().__init__()
        self.norm_before_activation = norm_before_activation
        self.convolution = nn.Conv1d(
            input_dim, output_dim, kernel, padding="same", bias=not norm_before_activation
        )
        self.norm = MaskedBatchNorm(output_dim)

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"norm_before_activation={self.norm_before_activation}"

    def forward(self, words: Tensor, rows: PackedRows) -> Tensor:
        """Convolves each sentence.

        Args:
            words: B×S×input_dim, zeros at pads.
            rows: where the batch's words are.

        Returns:
            B×S×output_dim, zeros at pads.
        """
        filtered = self._filtered(words)
        if self.norm_before_activation:
            return F.leaky_relu(self.norm(filtered, rows), SLOPE)
        return self.norm(F.leaky_relu(filtered, SLOPE), rows)

    def _filtered(self, words: Tensor) -> Tensor:
        """The convolution, as one product with the words that each filter sees.

        The gradient of cuDNN's convolution adds in no fixed order: two runs of one seed differ.
        """
        (kernel,), weight = self.convolution.kernel_size, self.convolution.weight
        before = (kernel - 1) // 2
        padded = F.pad(words, (0, 0, before, kernel - 1 - before))
        seen = padded.unfold(1, kernel, 1).flatten(2)  # B×S×(input_dim·k)
        return F.linear(seen, weight.flatten(1), self.convolution.bias)


class WordConvolutions(nn.Module):
    """The CNN layer of a relation network: the context of each word.

    Args:
        width: C, channels of a word.
        kernels: width and number of filters of each convolution.
        parallel: every convolution reads the words and their outputs are concatenated, as in the
            authors' released code; by default each reads the output of the previous one.
        norm_before_activation: see :class:`WordConvolution`.
    """

    def __init__(
        self,
        width: int,
        kernels: Sequence[tuple[int, int]],
        parallel: bool = False,
        norm_before_activation: bool = False,
    ) -> None:
        super().__init__()
        filters = [count for _, count in kernels]
        inputs = [width] * len(filters) if parallel else [width, *filters[:-1]]
        self.parallel = parallel
        self.output_dim = sum(filters) if parallel else filters[-1]
        self.convolutions = nn.ModuleList(
            WordConvolution(input_dim, kernel, count, norm_before_activation)
            for input_dim, (kernel, count) in zip(inputs, kernels)
        )

    def extra_repr(self) -> str:
        """The numbers that define the module."""
        return f"parallel={self.parallel}"

    def forward(self, words: Tensor, rows: PackedRows) -> Tensor:
        """Computes the context of each word.

        Args:
            words: B×S×C; values at pads are not read.
            rows: where the batch's words are.

        Returns:
            B×S×output_dim, zeros at pads.
        """
        words = words.masked_fill(rows.padding.unsqueeze(2), 0.0)
        if self.parallel:
            outputs = [convolution(words, rows) for convolution in self.convolutions]
            return torch.cat(outputs, dim=2)
        for convolution in self.convolutions:
            words = convolution(words, rows)
        return words
