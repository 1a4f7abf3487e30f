"""A corpus with its dependency trees out of a model's parent head, and its reference."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.evaluation.dependencies.parsed_corpus import ParsedCorpus, ParsedSentence
from syntax_nmt.evaluation.dependencies.reference import over_corpus_words, read_reference
from syntax_nmt.evaluation.dependencies.selection import Selection
from syntax_nmt.evaluation.extraction.model_answers import structures_of
from syntax_nmt.evaluation.extraction.parent_head import ParentHead, parsed
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
        if args.input:
            text = read_segmented(args.input, dictionary, args.subwords)
        else:
            text = read_split(task, args.gen_subset, args.segmented, args.subwords)
        head = ParentHead(model, text)
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
        sizes = args.max_tokens, args.batch_size
        return structures_of(head, text, parsed, *sizes, completed)

    unsure = text.unsure(completed)
    return ParsedCorpus(
        len(text), parse, reference, Selection.of(args), unknown, unknown_tokens=unsure
    )
