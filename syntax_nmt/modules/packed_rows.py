"""Sentences of a padded batch laid end to end for torch's fused recurrent networks."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


class PackedRows:
    """Takes the real positions out of a padded batch, and puts results back in their places.

    fairseq pads sources on the left, torch packs rows that begin at column 0. Here both are one
    gather: the place of each real position is computed once a batch, wherever its pads are. Packed
    in reverse, a sentence begins at its last word, so that a recurrent network reads it backward
    without having read a pad.

    Args:
        padding: B×S, True = pad; the pads of a sentence are before it, behind it, or both.
    """

    def __init__(self, padding: Tensor) -> None:
        real = ~padding
        self.rows, self.width = padding.shape
        lengths, order = real.sum(dim=1).sort(descending=True, stable=True)
        first = order * self.width + real.int().argmax(dim=1)[order]  # in the batch as one row
        step = torch.arange(int(lengths[0]), device=padding.device)[:, None]
        there = step < lengths
        self.batch_sizes = there.sum(dim=1).cpu()  # where torch wants it
        self._forward = (first + step)[there]
        self._backward = (first + lengths - 1 - step)[there]

    def pack(self, states: Tensor, backward: bool = False) -> PackedSequence:
        """The real positions, the first word of every sentence first.

        Args:
            states: B×S×C.
            backward: begin with the last words.
        """
        order = self._backward if backward else self._forward
        return PackedSequence(states.flatten(0, 1).index_select(0, order), self.batch_sizes)

    def unpack(self, packed: PackedSequence, backward: bool = False) -> Tensor:
        """What :meth:`pack` took, or something of the same positions, back in its places.

        Args:
            packed: the real positions.
            backward: as they were packed.

        Returns:
            B×S×C, zero at pads.
        """
        order = self._backward if backward else self._forward
        data = packed.data
        out = data.new_zeros(self.rows * self.width, data.size(1)).index_copy(0, order, data)
        return out.view(self.rows, self.width, -1)
