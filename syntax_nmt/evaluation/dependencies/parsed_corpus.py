"""A corpus with its parses, as they come, and its reference: out of a model, or out of a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from syntax_nmt.data.conllu import format_conllu, format_no_parse, read_conllu
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.reference_words import OtherWords
from syntax_nmt.evaluation.base.tree_corpus import TreeCorpus
from syntax_nmt.evaluation.dependencies.reference import (
    over_corpus_words,
    over_same_words,
    read_reference,
)
from syntax_nmt.evaluation.dependencies.selection import Selection
from syntax_nmt.evaluation.dependencies.uas import Trees
from syntax_nmt.evaluation.extraction.parent_head import ParentHead, predict_trees
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.evaluation.trained_model.source_text import read_segmented, read_split

ALL = Selection()


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence and its parses.

    Attributes:
        words: its words.
        tree: None = no parse.
        strongest: the words' strongest weights under the same type, although they need not be a
            tree; None = not known.
    """

    words: tuple[str, ...]
    tree: DependencyTree | None
    strongest: DependencyTree | None = None

    def block(self) -> str:
        """The sentence's CoNLL-U block."""
        if self.tree is None:
            return format_no_parse(self.words)
        return format_conllu(self.words, self.tree.heads, self.tree.relations, self.tree.upos)


class ParsedCorpus(TreeCorpus[ParsedSentence]):
    """Sentences that are parsed while one runs through them.

    Args:
        reference: their reference trees over the same words; None = there is no reference. Those
            that are scored, and None in place of the others, are in :attr:`scored`.
        selection: which sentences are scored.
        unknown: whether a sentence has an unknown token.
        other_words: words that are not those of the reference.
    """

    def __init__(
        self,
        sentences: int,
        parse: Callable[[], Iterator[ParsedSentence]],
        reference: Trees | None,
        unknown_tokens: int = 0,
        selection: Selection = ALL,
        unknown: Sequence[bool] = (),
        other_words: OtherWords | None = None,
    ) -> None:
        super().__init__(sentences, parse, unknown_tokens)
        self.reference = reference
        self.selection = selection
        self.scored = reference
        if reference is not None and selection != ALL:
            chosen = selection.apply(reference, unknown)
            if not any(chosen):
                raise UserError(
                    f"no sentence with a reference parse has {selection}: give another --words, or "
                    "leave --known-words out"
                )
            self.scored = [gold if takes else None for gold, takes in zip(reference, chosen)]
        self.other_words = other_words or OtherWords()


def corpus_of_file(args: argparse.Namespace) -> ParsedCorpus:
    """The parses of `--hypothesis`, over the words that it shares with the reference.

    Raises:
        UserError: a file is damaged, or the two are not parallel.
    """
    trees = list(read_conllu(args.hypothesis, one_root=False))
    reference: list[DependencyTree | None] | None = None
    other = OtherWords()
    if args.conllu:
        reference = list(read_reference(args.conllu, len(trees), args.hypothesis))
        for index, (tree, gold) in enumerate(zip(trees, reference)):
            if tree is not None and gold is not None:
                where, name = f"{args.conllu}:{gold.line}", f"{args.hypothesis}:{tree.line}"
                pair = over_same_words(tree, gold, where, name)
                trees[index], reference[index] = pair
                other.add(pair[0].words, pair[1].words, name)

    def parse() -> Iterator[ParsedSentence]:
        for tree in trees:
            yield ParsedSentence(() if tree is None else tree.words, tree)

    return ParsedCorpus(
        len(trees), parse, reference, selection=Selection.of(args), other_words=other
    )


def corpus_of_model(args: argparse.Namespace) -> ParsedCorpus:
    """The parses of a trained model, whose text is checked against the reference beforehand.

    Raises:
        UserError: the model has no supervised heads, or files do not belong together.
    """
    with quiet_fairseq():
        model, task = load_model(args.path, args.databin, choose_device(args.device))
        dictionary = task.source_dictionary
        head = ParentHead(model, dictionary.pad())
        if args.input:
            text = read_segmented(args.input, dictionary, args.subwords)
        else:
            text = read_split(task, args.gen_subset, args.segmented, args.subwords)
    unknown = [bool((tokens == dictionary.unk()).any()) for tokens in text.tokens]
    completed: list[tuple[str, ...] | None] = [None] * len(text)
    reference: list[DependencyTree | None] | None = None
    if args.conllu:
        reference = list(read_reference(args.conllu, len(text), text.name))
        for index, gold in enumerate(reference):
            if gold is not None:
                sentence, where = text[index], f"{args.conllu}:{gold.line}"
                completed[index], reference[index] = over_corpus_words(
                    sentence.words, gold, where, sentence.name, text.unknown
                )

    def parse() -> Iterator[ParsedSentence]:
        parses = predict_trees(head, text, args.max_tokens, args.batch_size)
        for words, found in zip(completed, parses):
            words = words or found.words
            trees = (tree_of_heads(words, found.heads), tree_of_heads(words, found.strongest))
            yield ParsedSentence(words, *trees)

    return ParsedCorpus(
        len(text), parse, reference, text.unsure(completed), Selection.of(args), unknown
    )


def tree_of_heads(words: Sequence[str], heads: Sequence[int] | None) -> DependencyTree | None:
    """Heads as a tree whose relations only tell the root.

    Args:
        heads: 0-based head of each word, the root's its own index; None = there is no parse.
    """
    if heads is None:
        return None
    relations = tuple("root" if head == word else "dep" for word, head in enumerate(heads))
    return DependencyTree(tuple(words), tuple(heads), relations, ("_",) * len(words))
