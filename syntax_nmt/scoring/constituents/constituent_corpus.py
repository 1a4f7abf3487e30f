"""A corpus with its constituency trees, as they come, and its gold brackets."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from syntax_nmt.data.constituents import ConstituentTree, format_tree
from syntax_nmt.scoring.constituents.bracketing import COLLINS_LABELS
from syntax_nmt.scoring.constituents.gold_brackets import CorpusLine, GoldCorpus, read_gold_brackets
from syntax_nmt.scoring.constituents.tree_file import read_tree_file, tree_texts
from syntax_nmt.scoring.tree_corpus import TreeCorpus


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


def corpus_of_file(args: argparse.Namespace) -> BracketedCorpus:
    """The trees of `--hypothesis`, over the words that they share with the gold trees.

    Raises:
        UserError: a file is damaged, or the two are not parallel.
    """
    # A large file is read again rather than kept.
    lines = (
        (None, args.hypothesis) if tree is None else (tree.words, f"{args.hypothesis}:{tree.line}")
        for tree in read_tree_file(args.hypothesis)
    )
    sentences = sum(1 for _ in tree_texts(args.hypothesis))
    gold = gold_brackets(args, lines, sentences, args.hypothesis)
    path = args.hypothesis
    return BracketedCorpus(sentences, lambda: map(BracketedSentence, read_tree_file(path)), gold)


def gold_brackets(
    args: argparse.Namespace,
    lines: Iterable[CorpusLine],
    sentences: int,
    name: str,
    unknown: str | None = None,
) -> GoldCorpus | None:
    """The gold brackets of `--trees`, if they are given.

    Raises:
        UserError: as :func:`read_gold_brackets`.
    """
    if not args.trees:
        return None
    labels = COLLINS_LABELS if args.collins else frozenset()
    return read_gold_brackets(args.trees, lines, sentences, name, unknown, labels)
