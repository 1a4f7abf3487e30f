"""Rows of a batch: the positions of real words in padded sentences, for layers that read only
words, and the sentence of each hypothesis of a search.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


class PackedRows:
    """Takes the real positions out of a padded batch, and puts results back in their places.

    The positions are computed once per batch, and all layers share them. The program waits for a
    GPU once, for the lengths of sentences: torch's recurrent networks need them on the host, and
    so do layers that compute sentences of one length together.

    fairseq pads sources on the left, torch packs rows that begin at column 0. Here one gather
    handles both: it reads the real positions, even if a pad is within a sentence (a typed `<pad>`).
    Packed in reverse, a sentence begins at its last word, so that a recurrent network reads it
    backward without pads.

    Args:
        padding: B×S, True = pad.
    """

    def __init__(self, padding: Tensor) -> None:
        self.padding = padding
        real = ~padding
        self._lengths, self._order = real.sum(dim=1).sort(descending=True, stable=True)
        on_host = self._lengths.cpu()
        # The longest sentence first; :meth:`take` begins with the shortest.
        self.lengths: list[int] = on_host.tolist()
        columns = padding.byte().sort(dim=1, stable=True).indices  # those of words first
        self._places = self._in_batch(columns)
        steps = torch.arange(self.lengths[0])
        self.batch_sizes = (steps.unsqueeze(1) < on_host).sum(dim=1)  # where torch needs it

    def in_order(self, columns: Tensor) -> PackedRows:
        """The rows of the same words in another order.

        Args:
            columns: B×S, the columns of the words in that order, then those of pads.
        """
        other = copy(self)
        other._places = self._in_batch(columns)
        for name in ("_forward", "_backward", "_by_sentence"):  # follow from the places
            other.__dict__.pop(name, None)
        return other

    def _in_batch(self, columns: Tensor) -> Tensor:
        """The places of B×S columns in the flattened batch, the longest sentence first."""
        rows = torch.arange(len(columns), device=columns.device).unsqueeze(1)
        return (rows * columns.size(1) + columns)[self._order]

    def pack(self, states: Tensor, backward: bool = False) -> PackedSequence:
        """The real positions by step, the first word of every sentence first.

        Args:
            states: B×S×C.
            backward: begin with the last words.
        """
        order = self._backward if backward else self._forward
        return PackedSequence(states.flatten(0, 1).index_select(0, order), self.batch_sizes)

    def unpack(self, packed: PackedSequence, backward: bool = False) -> Tensor:
        """Puts the values of :meth:`pack`, or others of the same positions, back in place.

        Args:
            packed: the real positions.
            backward: as they were packed.

        Returns:
            B×S×C, zero at pads.
        """
        return self._put(packed.data, self._backward if backward else self._forward)

    def take(self, states: Tensor) -> Tensor:
        """The real positions sentence by sentence, the shortest first, N×C.

        Args:
            states: B×S×C.
        """
        return states.flatten(0, 1).index_select(0, self._by_sentence)

    def put(self, words: Tensor) -> Tensor:
        """Puts the values of :meth:`take`, or others of the same positions, back in place.

        Args:
            words: N×C.

        Returns:
            B×S×C, zero at pads.
        """
        return self._put(words, self._by_sentence)

    def _put(self, words: Tensor, places: Tensor) -> Tensor:
        rows = words.new_zeros(self.padding.numel(), words.size(1)).index_copy(0, places, words)
        return rows.view(*self.padding.shape, -1)

    @cached_property
    def _steps(self) -> tuple[Tensor, Tensor]:
        """The sentence, counted from the longest, and the step of each packed word."""
        device = self.padding.device
        steps = torch.arange(self.lengths[0], device=device).unsqueeze(1)
        step, sentence = self._numbered((steps < self._lengths).sum(dim=1))
        return sentence, step

    @cached_property
    def _forward(self) -> Tensor:
        sentence, step = self._steps
        return self._places[sentence, step]

    @cached_property
    def _backward(self) -> Tensor:
        sentence, step = self._steps
        return self._places[sentence, self._lengths[sentence] - 1 - step]

    @cached_property
    def _by_sentence(self) -> Tensor:
        sentence, word = self._numbered(self._lengths.flip(0))
        return self._places.flip(0)[sentence, word]

    def _numbered(self, sizes: Tensor) -> tuple[Tensor, Tensor]:
        """For consecutive groups of these sizes: the group, and the position in it."""
        # Passing the number of all words avoids a synchronisation of the GPU.
        total = sum(self.lengths)
        group = torch.repeat_interleave(sizes, output_size=total)
        start = sizes.cumsum(dim=0) - sizes
        return group, torch.arange(total, device=sizes.device) - start[group]


def rearranged_rows(rows: list[Tensor] | None, new_order: Tensor) -> list[Tensor]:
    """The row number of each hypothesis after one more rearrangement.

    Args:
        rows: the previous ones; None = not yet rearranged.
        new_order: the row that goes to each place.
    """
    return [new_order if rows is None else rows[0].index_select(0, new_order)]


def once_a_sentence(x: Tensor, rows: list[Tensor] | None, hypotheses: int, dim: int = 0) -> Tensor:
    """What an encoder returned, for the sentences that are still searched, a row for each.

    Args:
        x: as the encoder returned it.
        rows: of :func:`rearranged_rows`; None = not yet rearranged.
        hypotheses: of a sentence, which have the same row.
    """
    return x if rows is None else x.index_select(dim, rows[0][::hypotheses])
