"""The output of `syntax-nmt align`: error rates and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from syntax_nmt.reporting.findings import Findings, Table, cell, number
from syntax_nmt.scoring.alignments.aligned_corpus import AlignedCorpus
from syntax_nmt.scoring.alignments.alignment import Alignment, GoldAlignment, links_outside
from syntax_nmt.scoring.alignments.alignment_error_rate import AlignmentScore, score_alignments


class AlignmentReport:
    """The figures of a corpus.

    Args:
        gold: one a sentence; None = there are none.
    """

    def __init__(
        self,
        corpus: AlignedCorpus,
        gold: Sequence[GoldAlignment] | None = None,
        gold_name: str = "",
    ) -> None:
        self.corpus = corpus
        self.gold = gold
        self.gold_name = gold_name
        self.outside = list(self._outside())

    def scores(self) -> dict[str, AlignmentScore]:
        """The score of each alignment by its name; empty without gold."""
        if self.gold is None:
            return {}
        items = self.corpus.alignments.items()
        return {name: score_alignments(links, self.gold) for name, links in items}

    def findings(self) -> Findings:
        """A row for each alignment, and a line for each warning."""
        scores = self.scores()
        alignments: list[dict[str, object]] = [
            {"name": name, "links": sum(map(len, links)), **_figures(scores.get(name))}
            for name, links in self.corpus.alignments.items()
        ]
        figures = {
            "sentences": len(self.corpus),
            "sentences_too_long": len(self.corpus.too_long),
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
            yield f"{len(self.corpus.too_long)} alignments empty, too long for the model"
        if self.outside:
            first = self.outside[0]
            yield f"{len(self.outside)} links outside their sentences, the first in {first}"

    def _read(self) -> Iterator[tuple[str, list[Alignment]]]:
        """The links that came from files, with their names."""
        for name, path in self.corpus.names.items():
            yield path, self.corpus.alignments[name]
        if self.gold is not None:
            yield self.gold_name, [gold.possible for gold in self.gold]

    def _outside(self) -> Iterator[str]:
        """The links to words that do not exist, with file and sentence."""
        for name, alignments in self._read():
            sentences = zip(alignments, self.corpus.lengths or [])
            for place, (links, (source, target)) in enumerate(sentences, start=1):
                for link in sorted(links_outside(links, source, target)):
                    yield (
                        f"{name}, sentence {place}: source word {link[0] + 1} of {source}, target "
                        f"word {link[1] + 1} of {target}"
                    )


def _figures(score: AlignmentScore | None) -> dict[str, object]:
    if score is None:
        return {}
    return {
        "aer": number(score.aer),
        "precision": number(score.precision),
        "recall": number(score.recall),
        **asdict(score),
    }
