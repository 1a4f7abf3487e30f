"""Batches of sentences of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def length_batches(
    indices: Sequence[int], lengths: Sequence[int], max_tokens: int, batch_size: int | None
) -> Iterator[list[int]]:
    """Batches of sentences of similar length, the longest first: what does not fit fails at once.

    Args:
        indices: of the sentences to be put into batches.
        lengths: of all sentences.
        max_tokens: of a batch, padding included.
        batch_size: sentences of a batch; None = as many as fit.
    """
    batch: list[int] = []
    for index in sorted(indices, key=lambda index: -lengths[index]):
        full = batch_size is not None and len(batch) >= batch_size
        if batch and (full or (len(batch) + 1) * lengths[batch[0]] > max_tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
