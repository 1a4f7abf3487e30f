"""The bucket of a word: its label in a tree, or its frequency in a training text."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from syntax_nmt.data.dependency_tree import DependencyTree, word_depths

UPOS, XPOS, DEPREL, DISTANCE, DEPTH = TREE_KINDS = ("upos", "xpos", "deprel", "distance", "depth")
FREQUENCY, SEEN = FORM_KINDS = ("frequency", "seen")
KINDS = (*TREE_KINDS, *FORM_KINDS)

ROOT = "root"
"""The distance of a word without a head."""
_KNOWN, _UNKNOWN = "seen", "not seen"
_NONE = "_"  # CoNLL-U's

LOWS: Mapping[str, tuple[int, ...]] = {
    DISTANCE: (1, 2, 3, 5, 8),
    DEPTH: (0, 1, 2, 3, 4, 5),
    FREQUENCY: (0, 1, 2, 3, 4, 5, 10, 100, 1000),
}
"""The least number of each bucket, by kind."""

Labels = tuple[str, ...]
"""The buckets of a word: one, several, or none."""


def labels_of_tree(kind: str, tree: DependencyTree) -> list[Labels]:
    """The bucket of each word; none where the tree has no label.

    The distance of a word is the number of words that its head stands to the left or right of it:
    1 of neighbours. The depth is the number of arcs to the root: 0 of the root.

    Args:
        kind: of :data:`TREE_KINDS`.
    """
    if kind == DISTANCE:
        return [
            (ROOT,) if head == word else (number_bucket(kind, abs(head - word)),)
            for word, head in enumerate(tree.heads)
        ]
    if kind == DEPTH:
        return [(number_bucket(kind, depth),) for depth in word_depths(tree.heads)]
    column = {UPOS: tree.upos, XPOS: tree.xpos, DEPREL: tree.relations}[kind]
    return [() if label == _NONE else (label,) for label in column or [_NONE] * len(tree)]


def label_of_count(kind: str, count: int) -> Labels:
    """The bucket of a word.

    Args:
        kind: of :data:`FORM_KINDS`.
        count: how often the training text has it.
    """
    if kind == SEEN:
        return (_KNOWN if count else _UNKNOWN,)
    return (number_bucket(kind, count),)


def number_bucket(kind: str, value: int) -> str:
    """The bucket that a number is in, such as `5–9`.

    Args:
        kind: with :data:`LOWS`.
    """
    return number_buckets(kind)[bisect_right(LOWS[kind], value) - 1]


def number_buckets(kind: str) -> list[str]:
    """The names of the buckets of numbers, from the least.

    Args:
        kind: with :data:`LOWS`.
    """
    between = [
        f"{low}" if following - low == 1 else f"{low}–{following - 1}"
        for low, following in pairwise(LOWS[kind])
    ]
    return [*between, f"≥{LOWS[kind][-1]}"]


def in_order(kind: str, sizes: Mapping[str, int]) -> list[str]:
    """The buckets of a table: numbers rise, labels come from the most frequent to the rarest.

    Args:
        sizes: the words of each.
    """
    if kind in LOWS:
        return [name for name in (*number_buckets(kind), ROOT) if name in sizes]
    if kind == SEEN:
        return [name for name in (_KNOWN, _UNKNOWN) if name in sizes]
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def first_labels(words: Sequence[str], labels: Sequence[Labels]) -> dict[str, Labels]:
    """The labels of each form, where it stands first."""
    found: dict[str, Labels] = {}
    for word, of_word in zip(words, labels):
        found.setdefault(word, of_word)
    return found


def sizes_of(sentences: Iterable[Sequence[Labels]]) -> dict[str, int]:
    """How many words each bucket has."""
    sizes: dict[str, int] = {}
    for labels in sentences:
        for name in (name for of_word in labels for name in of_word):
            sizes[name] = sizes.get(name, 0) + 1
    return sizes
