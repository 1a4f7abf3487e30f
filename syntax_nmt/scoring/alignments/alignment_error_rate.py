"""Alignment error rate, precision and recall (Och and Ney, 2003)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from syntax_nmt.scoring.accuracy import percent
from syntax_nmt.scoring.alignments.alignment import Alignment, GoldAlignment


@dataclass(frozen=True)
class AlignmentScore:
    """Links counted over a corpus, and the shares of them in percent.

    Attributes:
        links: of the alignments that are scored (A).
        sure: of the gold alignments (S).
        possible: of the gold alignments, the sure ones among them (P).
        links_sure: links that are sure (A ∩ S).
        links_possible: links that are possible (A ∩ P).
    """

    links: int
    sure: int
    possible: int
    links_sure: int
    links_possible: int

    @property
    def precision(self) -> float:
        """|A ∩ P| / |A|, in percent; NaN without links."""
        return percent(self.links_possible, self.links)

    @property
    def recall(self) -> float:
        """|A ∩ S| / |S|, in percent; NaN without sure links."""
        return percent(self.links_sure, self.sure)

    @property
    def aer(self) -> float:
        """1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), in percent; NaN where both are empty."""
        links = self.links + self.sure
        return 100 * (1 - (self.links_sure + self.links_possible) / links) if links else math.nan


def score_alignments(
    alignments: Sequence[Alignment], gold: Sequence[GoldAlignment]
) -> AlignmentScore:
    """Scores a corpus; links are added up over all sentences (micro average).

    Args:
        alignments: one a sentence.
        gold: likewise.

    Raises:
        ValueError: another number of sentences.
    """
    pairs = list(zip(alignments, gold, strict=True))
    return AlignmentScore(
        links=sum(len(links) for links in alignments),
        sure=sum(len(reference.sure) for reference in gold),
        possible=sum(len(reference.possible) for reference in gold),
        links_sure=sum(len(links & reference.sure) for links, reference in pairs),
        links_possible=sum(len(links & reference.possible) for links, reference in pairs),
    )
