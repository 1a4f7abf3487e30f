"""Features of words without the sentence's analysis: one for all, or what the word alone tells.

Heads are kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from syntax_nmt.data.controls.structures import TreeArcs
from syntax_nmt.data.dependency_tree import DependencyTree

FEATURE_COLUMNS = ("LEMMA", "UPOS", "XPOS", "FEATS", "DEPREL")
DUMMY = "X"


def values_of(tree: DependencyTree) -> tuple[tuple[str, ...], ...]:
    """The values of :data:`FEATURE_COLUMNS` of each word of a tree that was read from a file."""
    return tuple(zip(tree.lemmas, tree.upos, tree.xpos, tree.feats, tree.relations))


def dummy(tree: DependencyTree) -> TreeArcs:
    """The heads of a tree, with one and the same value in every column of every word."""
    return TreeArcs(tree.heads, (DUMMY,) * len(tree), ((DUMMY,) * 4,) * len(tree))


class Majority:
    """In each column, the value that a word has most often in a text.

    The first of equally frequent ones is taken, and for words that the text does not have, the most
    frequent value of all.
    """

    def __init__(self, trees: Iterable[DependencyTree]) -> None:
        of_words: defaultdict[str, list[Counter[str]]]
        of_words = defaultdict(lambda: [Counter() for _ in FEATURE_COLUMNS])
        of_all: list[Counter[str]] = [Counter() for _ in FEATURE_COLUMNS]
        for tree in trees:
            for word, values in zip(tree.words, values_of(tree)):
                for counts, overall, value in zip(of_words[word], of_all, values):
                    counts[value] += 1
                    overall[value] += 1
        self._values = {word: _most_frequent(columns) for word, columns in of_words.items()}
        self._unseen = _most_frequent(of_all)

    def __len__(self) -> int:
        """The number of words of the text, each counted once."""
        return len(self._values)

    def of(self, tree: DependencyTree) -> TreeArcs:
        """The heads of a tree, with the most frequent values of its words."""
        values = [self._values.get(word, self._unseen) for word in tree.words]
        *features, relations = zip(*values)
        return TreeArcs(tree.heads, relations, tuple(zip(*features)))


def _most_frequent(columns: Iterable[Counter[str]]) -> tuple[str, ...]:
    """The first of each that has the greatest count."""
    return tuple(max(counts, key=counts.__getitem__, default="_") for counts in columns)
