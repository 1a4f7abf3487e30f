"""What `syntax-nmt align` says about alignments: error rates and oddities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from syntax_nmt.evaluation.alignment.aligned_corpus import AlignedCorpus
from syntax_nmt.evaluation.alignment.alignment import (
    Alignment,
    GoldAlignment,
    format_alignment,
    links_outside,
    never_from_zero,
)
from syntax_nmt.evaluation.alignment.alignment_error_rate import AlignmentScore, score_alignments
from syntax_nmt.reporting.findings import Findings, Table, cell, number


class AlignmentReport:
    """The figures of a corpus.

    Args:
        gold: one a sentence; None = there are none.
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

    def findings(self) -> Findings:
        """A row for each alignment, and a line for each oddity."""
        scores = self.scores()
        alignments: list[dict[str, object]] = [
            {"name": name, "links": sum(map(len, links)), **_figures(scores.get(name))}
            for name, links in self.corpus.alignments.items()
        ]
        figures = {
            "sentences": len(self.corpus),
            "sentences_too_long": self.corpus.too_long,
            "links_outside_sentences": len(self.outside),
            "alignments": alignments,
        }
        head, rows = ["alignment", "links"], [[str(each["name"])] for each in alignments]
        for row, each in zip(rows, alignments):
            row.append(str(each["links"]))
        if scores:
            head += ["sure", "possible", "AER", "precision", "recall"]
        for row, score in zip(rows, scores.values()):
            row += [str(score.sure), str(score.possible)]
            row += [cell(score.aer), cell(score.precision), cell(score.recall)]
        heading = f"{len(self.corpus)} sentences"
        return Findings(figures, [Table(head, rows)], heading, [*self._notes()])

    def _notes(self) -> Iterator[str]:
        if self.corpus.too_long:
            yield f"{self.corpus.too_long} alignments empty, too long for the model"
        if self.outside:
            first = self.outside[0]
            yield f"{len(self.outside)} links outside their sentences, the first in {first}"
        for option, base, name, alignments in self._read():
            if base == 0 and never_from_zero(alignments):
                yield f"{name}: no link has a word 0: if it counts from 1, add {option} 1"

    def _read(self) -> Iterator[tuple[str, int, str, list[Alignment]]]:
        """What came from files: the option that tells their base, the base, name, and links."""
        for name, path in self.corpus.names.items():
            yield "--hypothesis-base", self.corpus.base, path, self.corpus.alignments[name]
        if self.gold is not None:
            possible = [gold.possible for gold in self.gold]
            yield "--gold-base", self.gold_base, self.gold_name, possible

    def _outside(self) -> Iterator[str]:
        """The links to words that are not there, with file and line."""
        if self.corpus.lengths is None:
            return
        for _, base, name, alignments in self._read():
            for line, (links, (source, target)) in enumerate(
                zip(alignments, self.corpus.lengths), start=1
            ):
                for link in sorted(links_outside(links, source, target)):
                    shown = format_alignment([(link[0] + base, link[1] + base)])
                    yield f"{name}:{line}: {shown} in {source} and {target} words"


def _figures(score: AlignmentScore | None) -> dict[str, object]:
    if score is None:
        return {}
    return {
        "aer": number(score.aer),
        "precision": number(score.precision),
        "recall": number(score.recall),
        **asdict(score),
    }
