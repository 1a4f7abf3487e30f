"""What `syntax-nmt trees` says about a parsed corpus: UAS, in words and as JSON, and drawings."""

from __future__ import annotations

import json
import math
from collections.abc import Collection

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.data.draw_tree import draw_tree
from syntax_nmt.evaluation.dependencies.parsed_corpus import ParsedCorpus, ParsedSentence
from syntax_nmt.evaluation.dependencies.uas import AttachmentScore, attachment_score


class TreeReport:
    """Collects a corpus' parses as they come; what is not scored or drawn is not kept.

    Args:
        corpus: the corpus.
        drawn: the sentences to draw, counted from 1.
        punctuation: whether punctuation counts.
    """

    def __init__(self, corpus: ParsedCorpus, drawn: Collection[int], punctuation: bool) -> None:
        self.corpus = corpus
        self.drawn = drawn
        self.punctuation = punctuation
        self.sentences = 0
        self.without_parse = 0
        self._trees: list[DependencyTree | None] = []
        self._strongest: list[DependencyTree | None] = []
        self._drawings: list[tuple[int, ParsedSentence]] = []

    def add(self, parse: ParsedSentence) -> None:
        """Takes the next sentence.

        Args:
            parse: its parse.
        """
        self.sentences += 1
        self.without_parse += parse.tree is None
        if self.corpus.reference is not None:
            self._trees.append(parse.tree)
            self._strongest.append(parse.strongest)
        if self.sentences in self.drawn:
            self._drawings.append((self.sentences, parse))

    def score(self) -> AttachmentScore | None:
        """The score of the trees, or None without a reference."""
        if self.corpus.scored is None:
            return None
        return attachment_score(self._trees, self.corpus.scored, self.punctuation)

    def strongest_score(self) -> AttachmentScore | None:
        """The score of the strongest weights before they become trees, or None."""
        if self.corpus.scored is None or not any(self._strongest):
            return None
        return attachment_score(self._strongest, self.corpus.scored, self.punctuation)

    def not_selected(self) -> int:
        """The sentences with a reference that are not scored, as the selection leaves them out."""
        reference, scored = self.corpus.reference or (), self.corpus.scored or ()
        return sum(gold is not None for gold in reference) - sum(
            gold is not None for gold in scored
        )

    def drawings(self, colour: bool) -> str:
        """The chosen trees, one below the other.

        Args:
            colour: mark in red as well.
        """
        return "\n".join(self._drawing(*item, colour) for item in self._drawings)

    def _drawing(self, number: int, parse: ParsedSentence, colour: bool) -> str:
        tree = parse.tree
        if tree is None:
            return f"sentence {number}: no parse\n"
        reference = None if self.corpus.reference is None else self.corpus.reference[number - 1]
        title = f"sentence {number}"
        if reference is not None:
            score = attachment_score([tree], [reference], self.punctuation)
            title += f": {score.correct} of {score.words} heads as in the reference"
            title += "" if self.punctuation else ", without punctuation"
        elif self.corpus.reference is not None:
            title += ": the reference has no parse"
        return f"{title}\n{draw_tree(tree, reference, colour)}"

    def summary(self) -> str:
        """One line: the figures, and what they leave out."""
        score = self.score()
        notes = []
        if score is None:
            parts = [f"{self.sentences - self.without_parse} sentences parsed"]
        else:
            counted = "with" if self.punctuation else "without"
            parts = [
                f"UAS {score.uas:.2f} ({score.correct} of {score.words} words in "
                f"{score.sentences} sentences, {counted} punctuation)"
            ]
            strongest = self.strongest_score()
            if strongest is not None:
                parts.append(f"{strongest.uas:.2f} before tree search")
            parts.append(f"root {score.root_accuracy:.2f}")
            not_selected = self.not_selected()
            if not_selected:
                notes.append(
                    f"{not_selected} sentences that do not have {self.corpus.selection} left out"
                )
            without = score.without_reference - not_selected
            if without:
                notes.append(f"{without} sentences without reference left out")
        if self.without_parse:
            wrong = "" if score is None else ", counted as wrong where there is a reference"
            notes.append(f"{self.without_parse} without parse (empty or too long){wrong}")
        if self.corpus.unknown_tokens:
            notes.append(
                f"{self.corpus.unknown_tokens} with unknown subwords, whose words may be cut "
                f"wrongly: give --segmented"
            )
        return "; ".join([", ".join(parts), *notes])

    def json(self) -> str:
        """The figures as a JSON object, null where there are none."""
        score, strongest = self.score(), self.strongest_score()
        figures: dict[str, object] = {
            "sentences": self.sentences,
            "sentences_without_parse": self.without_parse,
        }
        if score is not None:
            figures.update(
                uas=_number(score.uas),
                uas_before_tree_search=None if strongest is None else _number(strongest.uas),
                root_accuracy=_number(score.root_accuracy),
                punctuation=self.punctuation,
                words_scored=score.words,
                words_correct=score.correct,
                sentences_scored=score.sentences,
                sentences_without_reference=score.without_reference - self.not_selected(),
                sentences_not_selected=self.not_selected(),
            )
        return json.dumps(figures, indent=2) + "\n"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
