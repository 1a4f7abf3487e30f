"""Divides a dataset into batches, the same ones in every epoch at which a training resumes.

Sentences that are too long are reported, and never silently omitted.
"""

import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from fairseq.data import FairseqDataset
from fairseq.data.iterators import EpochBatchIterator

from syntax_nmt.data.text_columns import counted
from syntax_nmt.errors import UserError


def batch_iterator(
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
    longest = int(dataset.num_tokens_vec(kept).max(initial=0))
    if limit is not None and longest > limit:
        raise UserError(
            f"{limit_of} {limit}: a sentence has {longest} tokens: give at least as many"
        )


logger = logging.getLogger(__name__)

_NAMED = 10

SKIPPED_LINE = re.compile(rf"[^\t]*WARNING[^\t]*{re.escape(__name__)}\W+(line ([0-9]+) \(.+)")
"""How fairseq-interactive logs a typed line that it skips: the warning, and the line's number, from
1."""


def within_limits(
    indices: np.ndarray,
    dataset: FairseqDataset,
    limits: Any,
    may_skip: bool,
    before: int | None = None,
) -> np.ndarray:
    """The sentences that are not too long; warnings name the others, and :data:`SKIPPED_LINE` finds
    those of typed lines.

    Args:
        indices: numbers of sentences in the dataset.
        limits: of task and models: tokens with EOS, of source and target.
        may_skip: `--skip-invalid-size-inputs-valid-test` was given, or this is training.
        before: for a buffer of typed lines: the number of lines before it. All lines of a buffer
            may be skipped.

    Raises:
        UserError: a sentence is too long and must not be skipped, or all are.
    """
    kept, skipped = dataset.filter_indices_by_size(indices, limits)
    if len(skipped) == 0:
        return kept
    one, first = ("sentence", 0) if before is None else ("line", before + 1)
    shown = skipped[: _NAMED if before is None else None]  # of a buffer all
    named = [f"{first + int(i)} ({_text(dataset.size(i))} tokens)" for i in shown]
    allowed = f"the limit is {_text(limits)} tokens, EOS counts"
    if before is None:
        allowed += "; the first sentence is 0"  # as in what fairseq prints
    if not may_skip:
        others = f", and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        raise UserError(
            f"{one} {named[0]} is too long ({allowed}){others}: shorten what is, or leave it "
            "out with --skip-invalid-size-inputs-valid-test"
        )
    if before is not None:
        for each in named:
            logger.warning(f"line {each} is too long ({allowed}): it is skipped")
        return kept
    if len(kept) == 0:
        raise UserError(f"every sentence is too long, such as {named[0]} ({allowed}): shorten them")
    more = ", …" if len(skipped) > _NAMED else ""
    count = f"{counted(len(skipped), 'sentence')} {'is' if len(skipped) == 1 else 'are'}"
    logger.warning(f"{count} too long ({allowed}) and skipped: {', '.join(named)}{more}")
    return kept


def _text(sizes: Any) -> str:
    """Sizes of source and target as text; the target may be missing."""
    if not isinstance(sizes, tuple):
        return str(sizes)
    sides = [f"{size} {side}" for size, side in zip(sizes, ("source", "target")) if size]
    return " and ".join(sides)
