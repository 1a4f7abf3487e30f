"""How a corpus is cut into shards: the settings of :mod:`~syntax_nmt.preparation.corpus`."""

from __future__ import annotations

from dataclasses import dataclass

SAMPLE = 1_000_000
"""Lines of the sample, unless `--sample` says otherwise."""


@dataclass(frozen=True)
class Sharding:
    """How a corpus is cut, and what of it is done here.

    Attributes:
        size: the most lines of a shard.
        sample: lines of training text that the vocabulary is made from.
        only: the shard to prepare, by its number; None = all, and the labels of all.
        appends: the text is added to a corpus that is prepared.
        keeps_parses: of the training text, compressed.
    """

    size: int
    sample: int = SAMPLE
    only: int | None = None
    appends: bool = False
    keeps_parses: bool = False
