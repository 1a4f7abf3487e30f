"""Sentences divided by the length of the source, by depth or longest arc of their trees, or by
whether a tree has a relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from syntax_nmt.data.dependency_tree import DependencyTree, word_depths
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.parallel_text import read_parallel_trees
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import DEFAULT_EDGES, LengthBins
from syntax_nmt.text.unspaced import lacks_spaces

LENGTH, DEPTH, DISTANCE, RELATION = KINDS = ("length", "depth", "distance", "relation")
EDGES = {LENGTH: DEFAULT_EDGES, DEPTH: (4, 6, 8), DISTANCE: (5, 10, 20)}
"""The default lengths, depths and distances at which a group ends and the next begins."""
LEAST_SENTENCES = 30


@dataclass(frozen=True)
class GroupSettings:
    """How sentences are grouped.

    Attributes:
        by: some of :data:`KINDS`.
        conllu: trees of the sentences, of the source or of the reference; lengths are theirs, too.
        relations: for each, sentences that have it and others; for RELATION alone.
        edges: of the one kind of numbers that `by` has; None = :data:`EDGES`.
        least_sentences: a group with fewer, or with fewer others, is not tested.

    Raises:
        UserError: something is missing, or would not be read.
    """

    by: Sequence[str]
    conllu: str | None = None
    relations: Sequence[str] = ()
    edges: Sequence[int] | None = None
    least_sentences: int = LEAST_SENTENCES

    def __post_init__(self) -> None:
        of_trees = [kind for kind in self.by if kind != LENGTH]
        if of_trees and self.conllu is None:
            raise UserError(f"--by {of_trees[0]} needs trees of the sentences: give --conllu")
        if (RELATION in self.by) != bool(self.relations):
            given, missing = ("--by relation", "--relations")
            if self.relations:
                given, missing = missing, given
            raise UserError(f"{given} needs {missing}: give both or neither")
        numbers = [kind for kind in self.by if kind in EDGES]
        if self.edges is not None and len(numbers) != 1:
            raise UserError(
                f"--bins is of one kind of numbers, and --by has {len(numbers)}: give one of "
                f"{', '.join(EDGES)}"
            )


@dataclass(frozen=True)
class SentenceGroups:
    """A kind of groups.

    Attributes:
        by: the kind, with its unit or relation.
        labels: of the groups.
        members: the group of each sentence, a place in `labels`; −1 = in none.
    """

    by: str
    labels: Sequence[str]
    members: np.ndarray

    def masks(self) -> np.ndarray:
        """Groups × sentences: 1 where a sentence is in a group."""
        return (self.members == np.arange(len(self.labels))[:, None]).astype(float)

    def nonempty(self) -> SentenceGroups:
        """The same without groups that have no sentence."""
        there = [place for place, _ in enumerate(self.labels) if (self.members == place).any()]
        members = np.full(len(self.members), -1)
        for place, former in enumerate(there):
            members[self.members == former] = place
        return SentenceGroups(self.by, [self.labels[former] for former in there], members)


def sentence_groups(settings: GroupSettings, test_set: TestSet) -> list[SentenceGroups]:
    """The groups of each kind.

    Raises:
        UserError: trees are damaged or of another number of sentences, there are none, none has a
            relation that is asked for, or there are no lengths.
    """
    trees: list[DependencyTree | None] = []
    if settings.conllu is not None:
        reference = test_set.references[0].name
        trees = read_parallel_trees(settings.conllu, reference, test_set.sentences)
    found = []
    for kind in dict.fromkeys(settings.by):
        if kind == RELATION:
            _refuse_unknown(settings, trees)
            found += [_by_relation(trees, name) for name in dict.fromkeys(settings.relations)]
        else:
            bins = LengthBins(tuple(settings.edges or EDGES[kind]))
            found.append(_by_number(kind, _numbers(kind, trees, test_set), bins))
    return [groups.nonempty() for groups in found]


def _refuse_unknown(settings: GroupSettings, trees: Sequence[DependencyTree | None]) -> None:
    """Refuses a relation that no tree has: it is misspelt, or of another treebank."""
    known = sorted({name for tree in trees if tree is not None for name in tree.relations})
    for name in settings.relations:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            advice = f"did you mean {close[0]}?" if close else f"choose of {', '.join(known)}"
            raise UserError(f"--relations {name}: no tree of {settings.conllu} has it: {advice}")


def _by_relation(trees: Sequence[DependencyTree | None], relation: str) -> SentenceGroups:
    has = [-1 if tree is None else int(relation not in tree.relations) for tree in trees]
    return SentenceGroups(relation, (f"with {relation}", "without"), np.array(has))


def _by_number(kind: str, numbers: Sequence[int | None], bins: LengthBins) -> SentenceGroups:
    known = np.array([-1 if number is None else number for number in numbers])
    groups = np.digitize(known, bins.edges)
    groups[known < 0] = -1
    return SentenceGroups(kind, bins.labels, groups)


def _numbers(
    kind: str, trees: Sequence[DependencyTree | None], test_set: TestSet
) -> list[int | None]:
    """Of each sentence its length in words, deepest word, or longest arc; None = without a tree."""
    if kind == LENGTH and not trees:
        if test_set.source is None or lacks_spaces(test_set.source_words):
            raise UserError(
                "--by length: no lengths are known: give the source text in words, or --conllu"
            )
        return [len(sentence.split()) for sentence in test_set.source_words]
    measure = {LENGTH: len, DEPTH: deepest, DISTANCE: longest_arc}[kind]
    return [None if tree is None else measure(tree) for tree in trees]


def deepest(tree: DependencyTree) -> int:
    """The most arcs between a word and the root."""
    return max(word_depths(tree.heads), default=0)


def longest_arc(tree: DependencyTree) -> int:
    """The most places between a word and its head: 1 of neighbours."""
    return max((abs(head - word) for word, head in enumerate(tree.heads)), default=0)
