"""The output of `syntax-nmt trees` for a parsed corpus: UAS, LAS, and drawings."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.draw_tree import draw_tree
from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import Findings, Table, number
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.dependencies.parsed_corpus import ParsedCorpus, ParsedSentence
from syntax_nmt.scoring.dependencies.uas import AttachmentScore, attachment_score
from syntax_nmt.scoring.tree_corpus import TreeFigures, TreeReport


@dataclass(kw_only=True)
class ParseScores(TreeFigures):
    """The result of `syntax-nmt trees` for dependencies with a reference. Shares are in percent.

    Attributes:
        sentences_scored: compared with the reference.
        sentences_without_gold: not compared.
        sentences_not_selected: left out by --words or --known-words.
        uas: share of words with the head of the reference; None where no word counts.
        las: share of words with head and relation of the reference; None where the parses have no
            relations.
        uas_before_tree_search: the same of the heads of largest weight; None where not known.
        root_accuracy: share of sentences with the root of the reference.
        punctuation: whether it counts.
        words_correct: with the head of the reference.
        words_scored: all that count.
    """

    sentences_scored: int
    sentences_without_gold: int
    sentences_not_selected: int
    uas: float | None
    las: float | None
    uas_before_tree_search: float | None
    root_accuracy: float | None
    punctuation: bool
    words_correct: int
    words_scored: int


class ParseReport(TreeReport[ParsedSentence]):
    """UAS of the parses of a corpus.

    Args:
        punctuation: whether punctuation counts.
    """

    def __init__(self, corpus: ParsedCorpus, drawn: Collection[int], punctuation: bool) -> None:
        super().__init__(drawn)
        self.corpus = corpus
        self.punctuation = punctuation
        self._trees: list[DependencyTree | None] = []
        self._strongest: list[DependencyTree | None] = []

    def _score(self, sentence: ParsedSentence) -> None:
        if self.corpus.reference is not None:
            self._trees.append(sentence.tree)
            self._strongest.append(sentence.strongest)

    def score(self) -> AttachmentScore | None:
        """The score of the trees, or None without a reference."""
        if self.corpus.scored is None:
            return None
        return attachment_score(
            self._trees, self.corpus.scored, self.punctuation, self.corpus.subtypes
        )

    def strongest_score(self) -> Accuracy | None:
        """The score of the heads of largest weight, before the tree search, or None."""
        if self.corpus.scored is None or not any(self._strongest):
            return None
        return attachment_score(self._strongest, self.corpus.scored, self.punctuation).heads

    def left_out(self) -> tuple[int, int]:
        """The numbers of sentences without a reference, and of those that are not selected."""
        reference, scored = self.corpus.reference or (), self.corpus.scored or ()
        without = reference.count(None)
        return without, scored.count(None) - without

    def _drawing(self, number: int, sentence: ParsedSentence, colour: bool) -> str:
        tree = sentence.tree
        if tree is None:
            return f"sentence {number}: no parse\n"
        if sum(head == word for word, head in enumerate(tree.heads)) > 1:
            return f"sentence {number}: several roots, which `syntax-nmt plot dependencies` draws\n"
        reference = None if self.corpus.reference is None else self.corpus.reference[number - 1]
        title = f"sentence {number}"
        if reference is not None:
            score = attachment_score([tree], [reference], self.punctuation).heads
            title += f": {score.correct} of {score.total} heads as in the reference"
            title += "" if self.punctuation else ", without punctuation"
        elif self.corpus.reference is not None:
            title += ": the reference has no parse"
        drawn = draw_tree(tree, reference, colour, relations=self.corpus.labelled)
        return f"{title}\n{drawn}"

    def report(self) -> tuple[TreeFigures, Findings]:
        """UAS and the accuracy of roots, if there is a reference."""
        figures, notes = self.tree_figures(self.corpus.balanced), [*self._notes()]
        score, strongest = self.score(), self.strongest_score()
        if score is None:
            heading = f"{self.sentences - self.without_tree} sentences parsed"
            return figures, Findings(heading=heading, notes=notes)
        without_gold, not_selected = self.left_out()
        scored = ParseScores(
            **vars(figures),
            sentences_scored=score.roots.total,
            sentences_without_gold=without_gold,
            sentences_not_selected=not_selected,
            uas=number(score.heads.percent),
            las=number(score.labelled.percent) if self.corpus.labelled else None,
            uas_before_tree_search=None if strongest is None else number(strongest.percent),
            root_accuracy=number(score.roots.percent),
            punctuation=self.punctuation,
            words_correct=score.heads.correct,
            words_scored=score.heads.total,
        )
        heading = (
            f"{score.heads.correct} of {score.heads.total} heads as in the reference, in "
            f"{score.roots.total} sentences, {'with' if self.punctuation else 'without'} "
            f"punctuation"
        )
        columns = {"UAS": score.heads.percent}
        if self.corpus.labelled:
            columns["LAS"] = score.labelled.percent
        columns["root"] = score.roots.percent
        if strongest is not None:
            columns["UAS before tree search"] = strongest.percent
        table = Table(["", *columns], [["trees", *map(decimal_text, columns.values())]])
        return scored, Findings([table], heading, notes)

    def _notes(self) -> Iterator[str]:
        without_gold, not_selected = self.left_out()
        if not_selected:
            yield f"{not_selected} sentences that do not have {self.corpus.selection} left out"
        if without_gold:
            yield f"{without_gold} sentences without reference left out"
        yield from self.corpus.other_words.note()
        if self.corpus.carried_over:
            yield (
                f"{self.corpus.carried_over} parses of the reference are of another tokenisation, "
                f"and were carried over to the words of the text"
            )
        if self.without_tree:
            compared = self.corpus.reference is not None
            wrong = ", counted as wrong where there is a reference" if compared else ""
            yield f"{self.without_tree} without parse ({self.corpus.why_none}){wrong}"
        yield from self.corpus.notes()
