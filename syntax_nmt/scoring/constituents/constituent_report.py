"""The output of `syntax-nmt trees --kind constituents`: bracket F1, with baseline trees."""

from collections.abc import Collection, Iterator

from syntax_nmt.data.constituents import Constituent
from syntax_nmt.reporting.findings import Findings, Table, cell, number
from syntax_nmt.scoring.constituents.bracketing import (
    BASELINES,
    BracketCounts,
    BracketScore,
    comparable,
)
from syntax_nmt.scoring.constituents.constituent_corpus import BracketedCorpus, BracketedSentence
from syntax_nmt.scoring.constituents.draw_brackets import draw_brackets
from syntax_nmt.scoring.tree_corpus import TreeReport

TREES = "trees"


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

    def findings(self) -> Findings:
        """The figures, and exclusions."""
        figures: dict[str, object] = {
            "sentences": self.sentences,
            "sentences_without_tree": self.without_tree,
            **self.corpus.figures(),
        }
        heading = f"{self.sentences - self.without_tree} trees"
        if self.corpus.gold is None:
            return Findings(figures, heading=heading, notes=[*self._notes()])
        figures.update(
            sentences_scored=self.scored,
            sentences_without_gold=self.sentences - self.scored,
            deleted_labels=sorted(self.corpus.gold.labels),
            deleted_words=self.deleted_words,
            bracket_f1={
                name: {
                    "with_whole_sentence": _figures(score.with_whole),
                    "without_whole_sentence": _figures(score.without_whole),
                }
                for name, score in self.scores.items()
            },
        )
        tables = [
            self._table("with the bracket around the whole sentence", "with_whole"),
            self._table("without it", "without_whole"),
        ]
        return Findings(
            figures,
            tables,
            heading,
            [self._what_counts(), "brackets around the same words counted once", *self._notes()],
        )

    def _table(self, title: str, which: str) -> Table:
        rows = []
        for name, score in self.scores.items():
            counts: BracketCounts = getattr(score, which)
            shares = (counts.f1, counts.precision, counts.recall, counts.sentence_f1)
            rows.append([name, *map(cell, shares)])
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


def _figures(counts: BracketCounts) -> dict[str, object]:
    return {
        "f1": number(counts.f1),
        "precision": number(counts.precision),
        "recall": number(counts.recall),
        "sentence_f1": number(counts.sentence_f1),
        "correct": counts.correct,
        "predicted": counts.predicted,
        "gold": counts.gold,
        "sentences_averaged": counts.averaged,
    }
