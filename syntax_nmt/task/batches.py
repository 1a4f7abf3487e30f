"""Divides a dataset into batches, the same ones in every epoch at which a training resumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fairseq.data import FairseqDataset
from fairseq.data.iterators import EpochBatchIterator

from syntax_nmt.errors import UserError


def divided(
    build: Callable[..., EpochBatchIterator],
    dataset: FairseqDataset,
    options: dict[str, Any],
    first_kept: bool,
    limit_of: str,
) -> EpochBatchIterator:
    """A dataset in batches.

    Args:
        build: of fairseq's own task.
        options: of `build`.
        first_kept: whether fairseq will store these batches, and has none of the dataset yet.
        limit_of: the option that limits the tokens of a batch.

    Raises:
        UserError: a sentence has more tokens than a batch may.
    """
    try:
        return _same_batches(build, dataset, options) if first_kept else build(dataset, **options)
    except AssertionError:
        _refuse_long_sentence(dataset, options, limit_of)
        raise


def _same_batches(
    build: Callable[..., EpochBatchIterator], dataset: FairseqDataset, options: dict[str, Any]
) -> EpochBatchIterator:
    """The batches of the first epoch, in the order of the requested epoch.

    fairseq draws the order of equally long sentences for the epoch in which it first makes batches,
    and then keeps these batches: they must be those of the first epoch.
    """
    iterator = build(dataset, **{**options, "epoch": 1})
    iterator.epoch = max(options.get("epoch", 1), 1)
    dataset.set_epoch(iterator.epoch)
    return iterator


def _refuse_long_sentence(dataset: FairseqDataset, options: dict[str, Any], limit_of: str) -> None:
    """Refuses a sentence longer than a batch; if there is none, fairseq stopped for another reason.

    Raises:
        UserError: there is one.
    """
    limit = options.get("max_tokens")
    kept, _ = dataset.filter_indices_by_size(np.arange(len(dataset)), options.get("max_positions"))
    longest = max(map(dataset.num_tokens, kept), default=0)
    if limit is not None and longest > limit:
        raise UserError(
            f"{limit_of} {limit}: a sentence has {longest} tokens: give at least as many"
        )
