"""What `syntax-nmt align` says about alignments: error rates and oddities, in words and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from syntax_nmt.evaluation.alignment.aligned_corpus import AlignedCorpus
from syntax_nmt.evaluation.alignment.alignment import (
    GoldAlignment,
    format_alignment,
    links_outside,
)
from syntax_nmt.evaluation.alignment.alignment_error_rate import (
    AlignmentScore,
    score_alignments,
)


class AlignmentReport:
    """The figures of a corpus.

    Args:
        corpus: the alignments.
        gold: one a sentence; None = there are none.
        gold_name: their file.
        gold_base: what they call the first word.
    """

    def __init__(
        self,
        corpus: AlignedCorpus,
        gold: Sequence[GoldAlignment] | None = None,
        gold_name: str = "",
        gold_base: int = 0,
    ) -> None:
        self.corpus = corpus
        self.gold = gold
        self.gold_name = gold_name
        self.gold_base = gold_base
        self.outside = list(self._outside())

    def scores(self) -> dict[str, AlignmentScore]:
        """The score of each alignment by its name; empty without gold."""
        if self.gold is None:
            return {}
        items = self.corpus.alignments.items()
        return {name: score_alignments(links, self.gold) for name, links in items}

    def summary(self) -> str:
        """A line for each alignment, and one for each oddity."""
        count = len(self.corpus)
        lines = [
            f"{name}: AER {_shown(score.aer)}, precision {_shown(score.precision)}, recall "
            f"{_shown(score.recall)} ({score.links} links, {score.sure} sure and {score.possible} "
            f"possible ones, {count} sentences)"
            for name, score in self.scores().items()
        ]
        if self.gold is None:
            links = sum(map(len, self.corpus.result))
            lines = [f"{list(self.corpus.alignments)[-1]}: {links} links, {count} sentences"]
        return "\n".join([*lines, *self._notes()])

    def json(self) -> str:
        """The figures as a JSON object, in percent, null where there are none."""
        alignments = [
            {"name": name, "links": sum(map(len, links))}
            for name, links in self.corpus.alignments.items()
        ]
        scores = self.scores()
        for entry in alignments:
            if scores:
                entry.update(_figures(scores[str(entry["name"])]))
        report = {
            "sentences": len(self.corpus),
            "sentences_too_long": self.corpus.too_long,
            "links_outside_sentences": len(self.outside),
            "alignments": alignments,
        }
        return json.dumps(report, indent=2) + "\n"

    def _notes(self) -> Iterator[str]:
        if self.corpus.too_long:
            yield f"{self.corpus.too_long} alignments empty, too long for the model"
        if self.outside:
            first = self.outside[0]
            yield f"{len(self.outside)} links outside their sentences, the first in {first}"
        if self.gold and self.gold_base == 0 and self._never_counts_from_zero():
            yield (
                f"{self.gold_name}: no link has a word 0: if it counts from 1, add --gold-base 1"
            )

    def _never_counts_from_zero(self) -> bool:
        links = [link for gold in self.gold or () for link in gold.possible]
        return bool(links) and all(min(link) > 0 for link in links)

    def _outside(self) -> Iterator[str]:
        """The links to words that are not there, with file and line."""
        if self.corpus.lengths is None:
            return
        read = [
            (self.corpus.names[name], links, 0)
            for name, links in self.corpus.alignments.items()
            if name in self.corpus.names
        ]
        if self.gold is not None:
            read.append((self.gold_name, [gold.possible for gold in self.gold], self.gold_base))
        for name, alignments, base in read:
            for number, (links, (source, target)) in enumerate(
                zip(alignments, self.corpus.lengths), start=1
            ):
                for link in sorted(links_outside(links, source, target)):
                    shown = format_alignment([(link[0] + base, link[1] + base)])
                    yield f"{name}:{number}: {shown} in {source} and {target} words"


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _figures(score: AlignmentScore) -> dict[str, object]:
    shares = {"aer": score.aer, "precision": score.precision, "recall": score.recall}
    return {
        **{name: None if math.isnan(value) else value for name, value in shares.items()},
        "sure": score.sure,
        "possible": score.possible,
        "links_sure": score.links_sure,
        "links_possible": score.links_possible,
    }
