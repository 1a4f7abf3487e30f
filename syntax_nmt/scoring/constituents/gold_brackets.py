"""Gold constituency trees as brackets, for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from syntax_nmt.data.constituents import ConstituentTree
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.constituents.bracketing import Span, brackets_of, comparable, deleted_words
from syntax_nmt.scoring.constituents.tree_file import read_tree_file, tree_texts
from syntax_nmt.scoring.reference_words import OtherWords, over_reference_words

CorpusLine = tuple[Optional[Sequence[str]], str]
"""The words of a sentence, None = not known; and file and line, for messages."""


@dataclass(frozen=True)
class GoldBrackets:
    """The gold brackets of a sentence.

    Attributes:
        words: number of its remaining words.
        spans: of its constituents, over these words, as :func:`bracketing.comparable` gives them.
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

    labels: frozenset[str] = frozenset()
    sentences: list[GoldBrackets | None] = field(default_factory=list)
    words: list[tuple[str, ...] | None] = field(default_factory=list)
    other_words: OtherWords = field(default_factory=OtherWords)

    def __len__(self) -> int:
        return len(self.sentences)

    def add(self, tree: ConstituentTree | None, words: tuple[str, ...] | None = None) -> None:
        """Adds the next sentence.

        Args:
            tree: its gold tree; None = there is none.
            words: its words, where the corpus does not tell them.
        """
        self.words.append(words)
        if tree is None:
            self.sentences.append(None)
            return
        deleted = deleted_words(tree, self.labels) if self.labels else ()
        spans = comparable(brackets_of(tree, self.labels), len(tree), deleted)
        self.sentences.append(GoldBrackets(len(tree) - len(deleted), spans, deleted))


def read_gold_brackets(
    path: str | Path,
    corpus: Iterable[CorpusLine],
    sentences: int,
    corpus_name: str,
    unknown: str | None = None,
    labels: frozenset[str] = frozenset(),
) -> GoldCorpus:
    """The brackets of a file of trees that is parallel to a corpus.

    Args:
        path: the file, plain or `.gz`.
        corpus: of each sentence the words, None = not known, and file and line for messages.
        unknown: what stands in words of the corpus for unknown pieces; None = words are complete.
        labels: what is deleted, such as :data:`bracketing.COLLINS_LABELS`.

    Raises:
        UserError: the file is damaged, has another number of lines, other words, or no tree at all.
    """
    lines = sum(1 for _ in tree_texts(path))
    if lines != sentences:
        raise UserError(
            f"{path} has {lines} trees, {corpus_name} {sentences} sentences: give --trees the "
            f"trees of this very text, one a line ('()' where there is none)"
        )
    gold = GoldCorpus(labels)
    for tree, (corpus_words, name) in zip(read_tree_file(path), corpus):
        words = None
        if tree is not None and corpus_words is not None:
            where = f"{path}:{tree.line}"
            words = over_reference_words(corpus_words, tree.words, where, name, unknown, "--trees")
            if unknown is None:
                gold.other_words.add(corpus_words, tree.words, name)
        gold.add(tree, words if words != corpus_words else None)
    if not any(gold.sentences):
        raise UserError(
            f"{path}: no sentence has a tree, there is nothing to score against: give the gold ones"
        )
    return gold
