"""Sentences selected by their parse: those in which a word has what is asked for.

Test sets in which structure matters are subsets of ordinary ones (Choshen and Abend, 2019): a verb
and its separated particle, an auxiliary and its participle, a reflexive, with many words between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from syntax_nmt.data.dependency_tree import DependencyTree, word_depths
from syntax_nmt.errors import UserError
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult, Result


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
        heading = f"{len(self.selected)} of {self.sentences} sentences"
        heading += f", {matches} words" if matches else ""
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
