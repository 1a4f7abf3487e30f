"""Constituents with marked heads: the structure from which both gold trees are derived.

The head of a phrase is the word reached by following the children marked `HEAD`; every other child
depends on that word. Dependencies are therefore projective and single-rooted by construction, and
never at odds with the constituency tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from syntax_nmt.builtin_corpus.syntax import Concept

HEAD = "head"


@dataclass(eq=False)
class Word:
    """A word of the source.

    Args:
        upos: Universal Dependencies' part of speech.
        xpos: the Penn Treebank's, the label above the word in the constituency tree.
        feats: morphological features as CoNLL-U has them.
        concepts: what it expresses.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"
    concepts: tuple[Concept, ...] = ()


@dataclass(eq=False)
class Phrase:
    """A labelled constituent.

    Args:
        label: as in the Penn Treebank.
        parts: the children in order, each with its relation to the head; exactly one is `HEAD`.
    """

    label: str
    parts: list[tuple[str, Constituent]]

    def words(self) -> Iterator[Word]:
        """The words in order."""
        for _, part in self.parts:
            if isinstance(part, Word):
                yield part
            else:
                yield from part.words()

    def head(self) -> Word:
        """The word that heads the phrase."""
        (part,) = (part for relation, part in self.parts if relation == HEAD)
        return part if isinstance(part, Word) else part.head()

    def bracketed(self) -> str:
        """The tree in the Penn Treebank's notation, on one line."""
        inside = " ".join(
            f"({part.xpos} {part.form})" if isinstance(part, Word) else part.bracketed()
            for _, part in self.parts
        )
        return f"({self.label} {inside})"

    def dependencies(self) -> list[tuple[int, str]]:
        """The head of each word, counted from 1 with 0 for the root, and the relation to it."""
        position = {word: number for number, word in enumerate(self.words(), start=1)}
        found = {self.head(): (0, "root")}
        self._collect(position, found)
        return [found[word] for word in self.words()]

    def _collect(self, position: dict[Word, int], found: dict[Word, tuple[int, str]]) -> None:
        """Adds the dependencies inside this phrase to those found."""
        head = self.head()
        for relation, part in self.parts:
            if relation != HEAD:
                dependent = part if isinstance(part, Word) else part.head()
                found[dependent] = (position[head], relation)
            if isinstance(part, Phrase):
                part._collect(position, found)


Constituent = Union[Word, Phrase]
