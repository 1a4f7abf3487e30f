"""A corpus with its constituency trees, as they come, and its gold trees as brackets."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Optional

from syntax_nmt.data.constituents import ConstituentTree, format_tree
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.constituents.bracketing import (
    COLLINS_LABELS,
    Span,
    brackets_of,
    comparable,
    deleted_words,
)
from syntax_nmt.scoring.constituents.tree_file import read_tree_file, tree_texts
from syntax_nmt.scoring.reference_words import OtherWords, over_reference_words
from syntax_nmt.scoring.tree_corpus import TreeCorpus

CorpusLine = tuple[Optional[Sequence[str]], str]
"""The words of a sentence, None = not known; and file and line, for messages."""


@dataclass(frozen=True)
class GoldBrackets:
    """The gold brackets of a sentence.

    Attributes:
        words: number of its remaining words.
        spans: of its constituents, over these words, as :func:`comparable` gives them.
        deleted: the deleted words, by their position in the whole sentence.
    """

    words: int
    spans: frozenset[Span]
    deleted: tuple[int, ...] = ()

    def of(self, tree: ConstituentTree, labels: Set[str]) -> frozenset[Span]:
        """The spans of another tree over the same sentence, without the same words.

        Args:
            labels: brackets with such a label do not count.
        """
        return comparable(brackets_of(tree, labels), len(tree), self.deleted)


@dataclass
class GoldCorpus:
    """The gold brackets of a corpus.

    Attributes:
        labels: parts of speech that are deleted with their words, and brackets that do not count.
        sentences: one a line; None = there is no tree.
        words: the whole words of sentences in which unknown pieces had hidden some, by index; and
            None of those where they had not.
        other_words: those of a corpus that is complete.
    """

    labels: frozenset[str]
    sentences: list[GoldBrackets | None] = field(default_factory=list)
    words: list[tuple[str, ...] | None] = field(default_factory=list)
    other_words: OtherWords = field(default_factory=OtherWords)


@dataclass(frozen=True)
class BracketedSentence:
    """A sentence and its constituency tree.

    Attributes:
        tree: None = there is none, as the sentence has no word or is too long for the model.
    """

    tree: ConstituentTree | None

    def block(self) -> str:
        """The sentence's line in a file of trees."""
        return f"{format_tree(self.tree)}\n"


@dataclass
class BracketedCorpus(TreeCorpus[BracketedSentence]):
    """Sentences and their gold brackets.

    Attributes:
        gold: None = there are none.
    """

    gold: GoldCorpus | None


@dataclass(frozen=True)
class GoldFile:
    """A file of gold trees.

    Attributes:
        path: one bracketed tree a line, `()` for none.
        collins: deletes what evalb's COLLINS.prm deletes.
    """

    path: str
    collins: bool = False

    def read(
        self, lines: Iterable[CorpusLine], sentences: int, name: str, unknown: str | None = None
    ) -> GoldCorpus:
        """The gold brackets of a corpus.

        Args:
            lines: of each sentence of the corpus the words, and file and line for messages.
            sentences: how many there are.
            name: of the corpus, for messages.
            unknown: what stands in words of the corpus for unknown pieces; None = words are
                complete.

        Raises:
            UserError: the file is damaged, has another number of lines, other words, or no tree at
                all.
        """
        there = sum(1 for _ in tree_texts(self.path))
        if there != sentences:
            raise UserError(
                f"{self.path} has {there} trees, {name} {sentences} sentences: give --trees the "
                f"trees of this very text, one a line ('()' where there is none)"
            )
        gold = GoldCorpus(COLLINS_LABELS if self.collins else frozenset())
        for tree, (words, line) in zip(read_tree_file(self.path), lines):
            whole = None
            if tree is not None and words is not None:
                where = f"{self.path}:{tree.line}"
                whole = over_reference_words(words, tree.words, where, line, unknown)
                if unknown is None:
                    gold.other_words.add(words, tree.words, line)
            gold.words.append(whole if whole != words else None)
            gold.sentences.append(None if tree is None else _brackets(tree, gold.labels))
        if not any(gold.sentences):
            raise UserError(
                f"{self.path}: no sentence has a tree, there is nothing to score against: give the "
                "gold ones"
            )
        return gold


def corpus_of_file(path: str, gold: GoldFile | None = None) -> BracketedCorpus:
    """The trees of a file, over the words that they share with the gold trees.

    Args:
        gold: None = there are no gold trees.

    Raises:
        UserError: a file is damaged, or the two are not parallel.
    """
    # A large file is read again rather than kept.
    lines = (
        (None, path) if tree is None else (tree.words, f"{path}:{tree.line}")
        for tree in read_tree_file(path)
    )
    sentences = sum(1 for _ in tree_texts(path))
    brackets = None if gold is None else gold.read(lines, sentences, path)
    return BracketedCorpus(
        sentences, lambda: map(BracketedSentence, read_tree_file(path)), brackets
    )


def _brackets(tree: ConstituentTree, labels: Set[str]) -> GoldBrackets:
    deleted = deleted_words(tree, labels)
    spans = comparable(brackets_of(tree, labels), len(tree), deleted)
    return GoldBrackets(len(tree) - len(deleted), spans, deleted)
