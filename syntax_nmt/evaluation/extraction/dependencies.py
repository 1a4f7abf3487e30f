"""A corpus with its dependency trees out of a model's parent head, and its reference."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.evaluation.dependencies.parsed_corpus import ParsedCorpus, ParsedSentence
from syntax_nmt.evaluation.dependencies.reference import over_corpus_words, read_reference
from syntax_nmt.evaluation.dependencies.selection import Selection
from syntax_nmt.evaluation.extraction.parent_head import ParentHead, predict_trees
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.evaluation.trained_model.source_text import read_segmented, read_split


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
