"""Sentences by their parse: selected where a word has what is asked for, or divided into groups.

Test sets in which structure matters are subsets of ordinary ones (Choshen and Abend, 2019): a verb
and its separated particle, an auxiliary and its participle, a reflexive, with many words between.
A word matches where it has all that is asked for; a sentence is selected where a word matches.
Groups divide a test set by length of the source, by depth or longest arc of its trees, or by
whether a tree has a relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree, word_depths
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult, Result
from syntax_nmt.scoring.parallel_text import check_parallel
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import DEFAULT_EDGES, LengthBins


def _is_particle(tree: DependencyTree, word: int) -> bool:
    return tree.relations[word] in ("compound:prt", "svp")


def _is_auxiliary(tree: DependencyTree, word: int) -> bool:
    head = tree.heads[word]
    relation = tree.relations[word].partition(":")[0]
    return relation == "aux" and (
        "VerbForm=Part" in _of(tree.feats, head).split("|")
        or _of(tree.xpos, head) in ("VVPP", "VAPP", "VMPP", "VBN")
    )


def _is_reflexive(tree: DependencyTree, word: int) -> bool:
    return (
        "Reflex=Yes" in _of(tree.feats, word).split("|")
        or _of(tree.xpos, word) == "PRF"
        or tree.relations[word] in ("expl:pv", "expl:reflexive")
    )


def _of(column: Sequence[str], word: int) -> str:
    return column[word] if column else ""


CONSTRUCTIONS: dict[str, tuple[str, Callable[[DependencyTree, int], bool]]] = {
    "separable": ("a particle that depends on its verb (compound:prt)", _is_particle),
    "auxiliary": ("an auxiliary (aux) of a participle (VerbForm=Part, VVPP, VBN)", _is_auxiliary),
    "reflexive": ("a reflexive (Reflex=Yes, PRF, expl:pv)", _is_reflexive),
}
"""By name: what it is of Universal Dependencies and tagsets, and whether a word is one."""


@dataclass(frozen=True)
class Wanted:
    """What a word, and a sentence, must have.

    Attributes:
        relations: the word has one of these; none = any.
        construction: of :data:`CONSTRUCTIONS`; None = any.
        distance: places between the word and its head, at least; 1 of neighbours.
        depth: arcs between the word and the root, at least.
        length: words of the sentence, at least.

    Raises:
        UserError: nothing is asked for.
    """

    relations: Sequence[str] = ()
    construction: str | None = None
    distance: int = 0
    depth: int = 0
    length: int = 0

    def __post_init__(self) -> None:
        if not (self.relations or self.construction or self.distance or self.depth or self.length):
            raise UserError(
                "nothing is asked for: give --relation, --construction, --distance, --depth or "
                "--length"
            )

    @property
    def is_of_words(self) -> bool:
        """Whether words must match, and not sentences alone."""
        return bool(self.relations or self.construction or self.distance or self.depth)

    def words(self, tree: DependencyTree) -> list[int]:
        """The places of the words that match."""
        if len(tree) < self.length:
            return []
        depths = word_depths(tree.heads)
        return [word for word in range(len(tree)) if self._has_all(tree, word, depths[word])]

    def _has_all(self, tree: DependencyTree, word: int, depth: int) -> bool:
        return (
            (not self.relations or tree.relations[word] in self.relations)
            and (self.construction is None or CONSTRUCTIONS[self.construction][1](tree, word))
            and abs(tree.heads[word] - word) >= self.distance
            and depth >= self.depth
        )


@dataclass
class SelectedWord(Result):
    """A word that matches.

    Attributes:
        word: its form.
        head: the form of its head; its own of a root.
        relation: to it.
        distance: places between both; 0 of a root.
        depth: arcs to the root.
    """

    word: str
    head: str
    relation: str
    distance: int
    depth: int

    def __str__(self) -> str:
        return f"{self.word} ← {self.head} ({self.relation}, {self.distance})"


@dataclass
class SelectedSentence(Result):
    """A sentence that is selected.

    Attributes:
        line: its number, from 1.
        sentence: its words.
        words: those that match; none where only a length is asked for.
    """

    line: int
    sentence: str
    words: list[SelectedWord]


@dataclass
class Selection(CommandResult):
    """What is selected of a test set.

    Attributes:
        sentences: of the test set.
        sentences_without_tree: those that have no parse.
        selected: in order.
    """

    sentences: int
    sentences_without_tree: int
    selected: list[SelectedSentence]

    def findings(self, digits: int = 1) -> Findings:
        """A row for each sentence."""
        rows = [
            [str(each.line), "; ".join(map(str, each.words)), each.sentence]
            for each in self.selected
        ]
        matches = sum(len(each.words) for each in self.selected)
        heading = f"{len(self.selected)} of {self.sentences} sentences, {matches} words"
        return Findings(
            [Table(["line", "words", "sentence"], rows, names=3)], heading, [*self._notes()]
        )

    def _notes(self) -> Iterator[str]:
        if self.sentences_without_tree:
            yield f"{self.sentences_without_tree} sentences have no parse"


def select(trees: Sequence[DependencyTree | None], wanted: Wanted) -> Selection:
    """The sentences that have what is wanted, with the words that match."""
    selected = []
    for line, tree in enumerate(trees, start=1):
        words = [] if tree is None else wanted.words(tree)
        if tree is not None and words:
            found = [*_selected(tree, words)] if wanted.is_of_words else []
            selected.append(SelectedSentence(line, " ".join(tree.words), found))
    return Selection(len(trees), sum(tree is None for tree in trees), selected)


def _selected(tree: DependencyTree, words: Sequence[int]) -> Iterator[SelectedWord]:
    depths = word_depths(tree.heads)
    for word in words:
        head = tree.heads[word]
        yield SelectedWord(
            tree.words[word],
            tree.words[head],
            tree.relations[word],
            abs(head - word),
            depths[word],
        )


LENGTH, DEPTH, DISTANCE, RELATION = KINDS = ("length", "depth", "distance", "relation")
EDGES = {LENGTH: DEFAULT_EDGES, DEPTH: (4, 6, 8), DISTANCE: (5, 10, 20)}
"""The default lengths, depths and distances at which a group ends and the next begins."""
LEAST_SENTENCES = 30


@dataclass(frozen=True)
class GroupSettings:
    """How sentences are grouped.

    Attributes:
        by: some of :data:`KINDS`.
        trees: CoNLL-U of the sentences, of the source or of the reference.
        relations: for each, sentences that have it and others; for RELATION alone.
        edges: of the one kind of numbers that `by` has; None = :data:`EDGES`.
        least_sentences: a group with fewer is not tested.

    Raises:
        UserError: something is missing, or would not be read.
    """

    by: Sequence[str]
    trees: str | None = None
    relations: Sequence[str] = ()
    edges: Sequence[int] | None = None
    least_sentences: int = LEAST_SENTENCES

    def __post_init__(self) -> None:
        of_trees = [kind for kind in self.by if kind != LENGTH]
        if of_trees and self.trees is None:
            raise UserError(f"--by {of_trees[0]} needs trees of the sentences: give --trees")
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
        UserError: trees are damaged or of another number of sentences, or there are no lengths.
    """
    trees: list[DependencyTree | None] = []
    if settings.trees is not None:
        trees = list(read_conllu(settings.trees, one_root=False))
        reference = test_set.references[0].name
        check_parallel(settings.trees, len(trees), reference, test_set.sentences, "sentences")
    found = []
    for kind in dict.fromkeys(settings.by):
        if kind == RELATION:
            found += [_by_relation(trees, name) for name in dict.fromkeys(settings.relations)]
        else:
            bins = LengthBins(tuple(settings.edges or EDGES[kind]))
            found.append(_by_number(kind, _numbers(kind, trees, test_set), bins))
    return [groups.nonempty() for groups in found]


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
    if kind == LENGTH and test_set.source is not None:
        return [len(sentence.split()) for sentence in test_set.source.sentences]
    if kind == LENGTH and not trees:
        raise UserError("--by length: no lengths are known: give the source text, or --trees")
    measure = {LENGTH: len, DEPTH: deepest, DISTANCE: longest_arc}[kind]
    return [None if tree is None else measure(tree) for tree in trees]


def deepest(tree: DependencyTree) -> int:
    """The most arcs between a word and the root."""
    return max(word_depths(tree.heads), default=0)


def longest_arc(tree: DependencyTree) -> int:
    """The most places between a word and its head: 1 of neighbours."""
    return max((abs(head - word) for word, head in enumerate(tree.heads)), default=0)
