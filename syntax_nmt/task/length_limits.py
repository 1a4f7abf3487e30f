"""Sentences that are too long for a model: reported, and never silently omitted."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from fairseq.data import FairseqDataset

from syntax_nmt.errors import UserError

logger = logging.getLogger(__name__)

_NAMED = 10


def within_limits(
    indices: np.ndarray,
    dataset: FairseqDataset,
    limits: Any,
    may_skip: bool,
    before: int | None = None,
) -> np.ndarray:
    """The sentences that are not too long; a warning names the others.

    Args:
        indices: numbers of sentences in the dataset.
        limits: of task and models: tokens with EOS, of source and target.
        may_skip: `--skip-invalid-size-inputs-valid-test` was given, or this is training.
        before: for a buffer of typed lines: the number of lines before it, as output lines count
            them. All lines of a buffer may be skipped.

    Raises:
        UserError: a sentence is too long and must not be skipped, or all are.
    """
    kept, skipped = dataset.filter_indices_by_size(indices, limits)
    if len(skipped) == 0:
        return kept
    named = [
        f"{(before or 0) + int(i)} ({_text(dataset.size(i))} tokens)" for i in skipped[:_NAMED]
    ]
    allowed = f"the limit is {_text(limits)} tokens, EOS counts"
    if not may_skip:
        others = f", and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        raise UserError(
            f"sentence {named[0]} is too long ({allowed}){others}: shorten what is, or leave it "
            "out with --skip-invalid-size-inputs-valid-test"
        )
    if len(kept) == 0 and before is None:
        raise UserError(f"every sentence is too long, such as {named[0]} ({allowed}): shorten them")
    more = ", …" if len(skipped) > _NAMED else ""
    count = "1 sentence is" if len(skipped) == 1 else f"{len(skipped):,} sentences are"
    logger.warning(f"{count} too long ({allowed}) and skipped: {', '.join(named)}{more}")
    return kept


def _text(sizes: Any) -> str:
    """Sizes of source and target as text; the target may be missing."""
    if not isinstance(sizes, tuple):
        return str(sizes)
    sides = [f"{size} {side}" for size, side in zip(sizes, ("source", "target")) if size]
    return " and ".join(sides)
