"""Unlabelled bracket F1 of constituency trees, with the conventions of evalb.

Unlike in evalb, because labels do not count, brackets around one word never count, and brackets
around the same words (a unary chain) count once. Otherwise all counts are those of evalb with
`LABELED 0`. Trees that depend only on the sentence length are baselines for induced ones.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.scoring.accuracy import PrecisionRecall, percent

Span = tuple[int, int]
"""Words `start` to `end` (exclusive)."""

COLLINS_LABELS = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
"""The labels that evalb's COLLINS.prm deletes: words so tagged, and brackets so labelled."""


def deleted_words(tree: ConstituentTree, labels: Set[str]) -> tuple[int, ...]:
    """The words of a tree whose part of speech is deleted before brackets are compared.

    Args:
        tree: a tree with part-of-speech brackets.
        labels: the parts of speech, such as :data:`COLLINS_LABELS`.
    """
    return tuple(node.start for node in tree.nodes if node.leaf and node.label in labels)


def brackets_of(tree: ConstituentTree, labels: Set[str] = frozenset()) -> Iterable[Span]:
    """The spans of the constituents of a tree that are not words.

    Args:
        labels: brackets with such a label do not count.
    """
    return (
        (node.start, node.end) for node in tree.nodes if not node.leaf and node.label not in labels
    )


def comparable(spans: Iterable[Span], words: int, deleted: Iterable[int] = ()) -> frozenset[Span]:
    """The spans of two words or more, each once, in a sentence that lost some of its words.

    Args:
        spans: over the whole sentence.
        deleted: the words to delete.
    """
    deleted = tuple(deleted)
    if not deleted:
        return frozenset(span for span in spans if span[1] - span[0] > 1)
    kept = np.ones(words + 1, dtype=np.int64)
    kept[0] = 0
    kept[[word + 1 for word in deleted]] = 0
    before = np.cumsum(kept).tolist()  # number of remaining words before each word
    moved = ((before[start], before[end]) for start, end in spans)
    return frozenset(span for span in moved if span[1] - span[0] > 1)


@dataclass
class BracketCounts(PrecisionRecall):
    """Counts over a corpus, and shares in percent, NaN if the whole is 0.

    Attributes:
        gold: brackets of the gold trees.
        predicted: brackets of the scored trees.
        correct: those in both.
        averaged: sentences with a bracket on either side; only they have an F1 of their own.
        sum_of_f1: over these sentences, as shares.
    """

    gold: int = 0
    predicted: int = 0
    correct: int = 0
    averaged: int = 0
    sum_of_f1: float = 0.0

    def add(self, hypothesis: Set[Span], gold: Set[Span]) -> None:
        """Counts a sentence.

        Args:
            hypothesis: the spans of its tree, as :func:`comparable` gives them.
            gold: those of its gold tree.
        """
        matched = len(hypothesis & gold)
        self.gold += len(gold)
        self.predicted += len(hypothesis)
        self.correct += matched
        if hypothesis or gold:
            self.averaged += 1
            self.sum_of_f1 += 2 * matched / (len(hypothesis) + len(gold))

    @property
    def sentence_f1(self) -> float:
        """Mean of the sentences' F1."""
        return percent(self.sum_of_f1, self.averaged)


@dataclass
class BracketScore:
    """The counts of a corpus, with the brackets around whole sentences and without.

    Attributes:
        with_whole: whole sentences count.
        without_whole: they do not, as every tree has them.
    """

    with_whole: BracketCounts = field(default_factory=BracketCounts)
    without_whole: BracketCounts = field(default_factory=BracketCounts)

    def add(self, hypothesis: Set[Span], gold: Set[Span], words: int) -> None:
        """Counts a sentence.

        Args:
            hypothesis: the spans of its tree, as :func:`comparable` gives them.
            gold: those of its gold tree.
            words: the words of the sentence that are not deleted.
        """
        whole = {(0, words)}
        self.with_whole.add(hypothesis, gold)
        self.without_whole.add(hypothesis - whole, gold - whole)


def right_branching(words: int) -> frozenset[Span]:
    """The brackets of `(a (b (c d)))`.

    Args:
        words: how many there are; fewer than two have no brackets.
    """
    return frozenset((start, words) for start in range(words - 1))


def left_branching(words: int) -> frozenset[Span]:
    """The brackets of `(((a b) c) d)`.

    Args:
        words: how many there are.
    """
    return frozenset((0, end) for end in range(2, words + 1))


def balanced(words: int) -> frozenset[Span]:
    """The brackets of the tree that is halved again and again: `((a b) (c d))`.

    With an odd number of words the right half gets one more: `(a (b c))`.

    Args:
        words: how many there are.
    """
    brackets = []
    waiting = [(0, words)]
    while waiting:
        start, end = waiting.pop()
        if end - start > 1:
            brackets.append((start, end))
            middle = (start + end) // 2
            waiting += [(start, middle), (middle, end)]
    return frozenset(brackets)


BASELINES: Final[dict[str, Callable[[int], frozenset[Span]]]] = {
    "right-branching": right_branching,
    "left-branching": left_branching,
    "balanced": balanced,
}
