"""The output of `syntax-nmt trees --kind constituents`: bracket F1, with baseline trees."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from syntax_nmt.data.constituents import Constituent
from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import Findings, Table, number
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.constituents.bracketing import (
    BASELINES,
    BracketCounts,
    BracketScore,
    comparable,
)
from syntax_nmt.scoring.constituents.constituent_corpus import BracketedCorpus, BracketedSentence
from syntax_nmt.scoring.constituents.draw_brackets import draw_brackets
from syntax_nmt.scoring.tree_corpus import TreeFigures, TreeReport

TREES = "trees"


@dataclass
class BracketFigures(Result):
    """Shares of brackets in percent, None where there was nothing to count, and their counts.

    Attributes:
        f1: over all brackets of the corpus.
        precision: likewise.
        recall: likewise.
        sentence_f1: mean of the sentences' F1.
        correct: brackets of both.
        predicted: of the trees.
        gold: of the gold trees.
        sentences_averaged: in `sentence_f1`.
    """

    f1: float | None
    precision: float | None
    recall: float | None
    sentence_f1: float | None
    correct: int
    predicted: int
    gold: int
    sentences_averaged: int

    @classmethod
    def of(cls, counts: BracketCounts) -> "BracketFigures":
        """The figures of brackets that were counted."""
        return cls(
            number(counts.f1),
            number(counts.precision),
            number(counts.recall),
            number(counts.sentence_f1),
            counts.correct,
            counts.predicted,
            counts.gold,
            counts.averaged,
        )


@dataclass
class BracketF1(Result):
    """Brackets with those around whole sentences, which every tree has, and without."""

    with_whole_sentence: BracketFigures
    without_whole_sentence: BracketFigures


@dataclass(kw_only=True)
class BracketScores(TreeFigures):
    """The result of `syntax-nmt trees --kind constituents` with gold trees.

    Attributes:
        sentences_scored: compared with gold.
        sentences_without_gold: not compared.
        deleted_labels: words of these labels do not count.
        deleted_words: how many those are.
        bracket_f1: of the trees, and of baselines.
    """

    sentences_scored: int
    sentences_without_gold: int
    deleted_labels: list[str]
    deleted_words: int
    bracket_f1: dict[str, BracketF1]


class ConstituentReport(TreeReport[BracketedSentence]):
    """Bracket F1 of the trees of a corpus."""

    def __init__(self, corpus: BracketedCorpus, drawn: Collection[int]) -> None:
        super().__init__(drawn)
        self.corpus = corpus
        self.scored = 0
        self.scored_without_tree = 0
        self.deleted_words = 0
        self.scores = {name: BracketScore() for name in (TREES, *BASELINES)}

    def _score(self, sentence: BracketedSentence) -> None:
        if self.corpus.gold is None:
            return
        gold, labels = self.corpus.gold.sentences[self.sentences], self.corpus.gold.labels
        if gold is None:
            return
        self.scored += 1
        self.scored_without_tree += sentence.tree is None
        self.deleted_words += len(gold.deleted)
        found = frozenset() if sentence.tree is None else gold.of(sentence.tree, labels)
        self.scores[TREES].add(found, gold.spans, gold.words)
        for name, branch in BASELINES.items():
            self.scores[name].add(branch(gold.words), gold.spans, gold.words)

    def _drawing(self, number: int, sentence: BracketedSentence, colour: bool) -> str:
        tree = sentence.tree
        if tree is None:
            return f"sentence {number}: no tree\n"
        if self.corpus.gold is None:
            return f"sentence {number}\n{draw_brackets(tree, colour=colour)}"
        gold, labels = self.corpus.gold.sentences[number - 1], self.corpus.gold.labels
        if gold is None:
            return f"sentence {number}: no gold tree\n{draw_brackets(tree, colour=colour)}"

        def wrong(node: Constituent) -> bool:
            span = comparable([(node.start, node.end)], len(tree), gold.deleted)
            return node.label not in labels and not span <= gold.spans

        found = gold.of(tree, labels)
        title = (
            f"sentence {number}: {len(found & gold.spans)} of {len(found)} brackets are among the "
            f"{len(gold.spans)} of the gold tree"
        )
        return f"{title}\n{draw_brackets(tree, wrong, colour)}"

    def report(self) -> tuple[TreeFigures, Findings]:
        """Bracket F1, if there is gold."""
        figures = self.tree_figures(self.corpus.balanced)
        heading = f"{self.sentences - self.without_tree} trees"
        if self.corpus.gold is None:
            return figures, Findings(heading=heading, notes=[*self._notes()])
        scored = BracketScores(
            **vars(figures),
            sentences_scored=self.scored,
            sentences_without_gold=self.sentences - self.scored,
            deleted_labels=sorted(self.corpus.gold.labels),
            deleted_words=self.deleted_words,
            bracket_f1={
                name: BracketF1(
                    BracketFigures.of(score.with_whole), BracketFigures.of(score.without_whole)
                )
                for name, score in self.scores.items()
            },
        )
        tables = [
            self._table("with the bracket around the whole sentence", "with_whole"),
            self._table("without it", "without_whole"),
        ]
        notes = [self._what_counts(), "brackets around the same words counted once"]
        return scored, Findings(tables, heading, [*notes, *self._notes()])

    def _table(self, title: str, which: str) -> Table:
        rows = []
        for name, score in self.scores.items():
            counts: BracketCounts = getattr(score, which)
            shares = (counts.f1, counts.precision, counts.recall, counts.sentence_f1)
            rows.append([name, *map(decimal_text, shares)])
        return Table(["brackets", "F1", "precision", "recall", "F1 by sentence"], rows, title)

    def _what_counts(self) -> str:
        assert self.corpus.gold is not None
        deleted = "nothing deleted"
        if self.corpus.gold.labels:
            deleted = f"{self.deleted_words} words deleted as by COLLINS.prm"
        return f"{self.scored} sentences; unlabelled, {deleted}; brackets around one word left out"

    def _notes(self) -> Iterator[str]:
        if self.corpus.gold is not None and self.sentences > self.scored:
            yield f"{self.sentences - self.scored} sentences without gold tree left out"
        if self.corpus.gold is not None:
            yield from self.corpus.gold.other_words.note()
        if self.without_tree:
            wrong = f", {self.scored_without_tree} of them with a gold tree, whose brackets count "
            wrong = f"{wrong}as not found" if self.scored_without_tree else ""
            yield f"{self.without_tree} without tree ({self.corpus.why_none}){wrong}"
        yield from self.corpus.notes()
