"""The sentence of each hypothesis, as a row number beside tensors that stay as they are.

fairseq rearranges an encoder's output at every step of a search. What a decoder reads at the first
step alone need not be moved: only the numbers of its rows are.
"""

from __future__ import annotations

from torch import Tensor


def rearranged_rows(rows: list[Tensor] | None, new_order: Tensor) -> list[Tensor]:
    """The row number of each hypothesis after one more rearrangement.

    Args:
        rows: those before; None = nothing was rearranged yet.
        new_order: the row that goes to each place.
    """
    return [new_order if rows is None else rows[0].index_select(0, new_order)]
