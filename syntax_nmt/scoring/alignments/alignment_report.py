"""The output of `syntax-nmt align`: alignment error rate (Och and Ney, 2003), and warnings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import Findings, Table, number
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.accuracy import percent
from syntax_nmt.scoring.alignments.aligned_corpus import AlignedCorpus
from syntax_nmt.scoring.alignments.alignment import Alignment, GoldAlignment, links_outside


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


@dataclass
class AlignmentFigures(Result):
    """An alignment of a corpus; without gold its links alone. Shares are in percent.

    Attributes:
        name: in tables.
        links: how many.
    """

    name: str
    links: int


@dataclass
class ScoredAlignmentFigures(AlignmentFigures):
    """The same compared with gold; the counts are those of :class:`AlignmentScore`.

    Attributes:
        aer: alignment error rate; None where both are empty.
        precision: None without links.
        recall: None without sure links.
    """

    aer: float | None
    precision: float | None
    recall: float | None
    sure: int
    possible: int
    links_sure: int
    links_possible: int

    @classmethod
    def of(cls, name: str, score: AlignmentScore) -> "ScoredAlignmentFigures":
        """The figures of a score."""
        shares = number(score.aer), number(score.precision), number(score.recall)
        return cls(
            name,
            score.links,
            *shares,
            score.sure,
            score.possible,
            score.links_sure,
            score.links_possible,
        )


@dataclass
class Alignments(Result):
    """The result of `syntax-nmt align`.

    Attributes:
        sentences: of the corpus.
        sentences_too_long: without links, as the model has no positions for them.
        links_outside_sentences: links of files to words that do not exist.
        alignments: by name.
    """

    sentences: int
    sentences_too_long: int
    links_outside_sentences: int
    alignments: list[AlignmentFigures]


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


def alignment_report(
    corpus: AlignedCorpus, gold: Sequence[GoldAlignment] | None, gold_name: str | None
) -> tuple[Alignments, Findings]:
    """The figures; and for readers a row for each alignment, and a line for each warning.

    Args:
        gold: one a sentence; None = there are none.
        gold_name: their file, for messages.
    """
    outside = list(_outside(corpus, gold, gold_name))
    head, rows = ["alignment", "links"], []
    if gold is not None:
        head += ["sure", "possible", "AER", "precision", "recall"]
    alignments = []
    for name, links in corpus.alignments.items():
        found = AlignmentFigures(name, sum(map(len, links)))
        row = [name, str(found.links)]
        if gold is not None:
            score = score_alignments(links, gold)
            found = ScoredAlignmentFigures.of(name, score)
            row += [str(score.sure), str(score.possible)]
            row += map(decimal_text, (score.aer, score.precision, score.recall))
        alignments.append(found)
        rows.append(row)
    figures = Alignments(len(corpus), len(corpus.too_long), len(outside), alignments)
    notes = []
    if corpus.too_long:
        notes.append(f"{len(corpus.too_long)} alignments empty, too long for the model")
    if outside:
        notes.append(f"{len(outside)} links outside their sentences, the first in {outside[0]}")
    return figures, Findings([Table(head, rows)], f"{len(corpus)} sentences", notes)


def _outside(
    corpus: AlignedCorpus, gold: Sequence[GoldAlignment] | None, gold_name: str | None
) -> Iterator[str]:
    """The links out of files to words that do not exist, with file and sentence."""
    read = [(path, corpus.alignments[name]) for name, path in corpus.names.items()]
    if gold is not None:
        read.append((str(gold_name), [each.possible for each in gold]))
    for path, alignments in read:
        sentences = zip(alignments, corpus.lengths or [])
        for place, (links, (source, target)) in enumerate(sentences, start=1):
            for link in sorted(links_outside(links, source, target)):
                yield (
                    f"{path}, sentence {place}: source word {link[0] + 1} of {source}, target "
                    f"word {link[1] + 1} of {target}"
                )
