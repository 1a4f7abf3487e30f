"""A corpus with its constituency trees, as they come, and its gold brackets: out of a model, or out
of a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator

from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from syntax_nmt.data.subwords import NO_SUBWORDS
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.tree_corpus import TreeCorpus
from syntax_nmt.evaluation.constituents.bracketing import COLLINS_LABELS
from syntax_nmt.evaluation.constituents.gold_brackets import (
    CorpusLine,
    GoldCorpus,
    read_gold_brackets,
)
from syntax_nmt.evaluation.constituents.tree_file import read_tree_file, tree_texts
from syntax_nmt.evaluation.extraction.constituent_trees import BracketedSentence, induced_trees
from syntax_nmt.evaluation.extraction.model_distances import (
    DecoderDistances,
    EncoderDistances,
    ModelDistances,
)
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.evaluation.trained_model.source_text import (
    SOURCE,
    TARGET,
    SourceText,
    read_segmented,
    read_split,
)


class BracketedCorpus(TreeCorpus[BracketedSentence]):
    """Sentences whose trees are made while one runs through them.

    Args:
        gold: their gold brackets; None = there are none.
    """

    def __init__(
        self,
        sentences: int,
        trees: Callable[[], Iterator[BracketedSentence]],
        gold: GoldCorpus | None,
        unknown_tokens: int = 0,
    ) -> None:
        super().__init__(sentences, trees, unknown_tokens)
        self.gold = gold


def bracketed_corpus_of_file(args: argparse.Namespace) -> BracketedCorpus:
    """The trees of `--hypothesis`, over the words that they share with the gold trees.

    Raises:
        UserError: a file is damaged, or the two are not parallel.
    """

    def trees() -> Iterator[BracketedSentence]:
        return (BracketedSentence(tree) for tree in read_tree_file(args.hypothesis))

    # A large file is read again rather than kept.
    lines = (
        CorpusLine(None, args.hypothesis)
        if tree is None
        else CorpusLine(tree.words, f"{args.hypothesis}:{tree.line}")
        for tree in read_tree_file(args.hypothesis)
    )
    sentences = sum(1 for _ in tree_texts(args.hypothesis))
    gold = _gold(args, lines, sentences, args.hypothesis)
    return BracketedCorpus(sentences, trees, gold)


def bracketed_corpus_of_model(args: argparse.Namespace) -> BracketedCorpus:
    """The trees that a trained model has induced, whose text is checked against the gold trees
    beforehand.

    Raises:
        UserError: the model has no syntactic distances, or files do not belong together.
    """
    with quiet_fairseq():
        model, task = load_model(args.path, args.databin, choose_device(args.device))
        text, distances = _text_and_distances(args, model, task)
    lines = (CorpusLine(text[index].words, text[index].name) for index in range(len(text)))
    gold = _gold(args, lines, len(text), text.name, text.unknown)
    settled = [None] * len(text) if gold is None else gold.sentences
    known = None if gold is None else gold.words

    def trees() -> Iterator[BracketedSentence]:
        return induced_trees(distances, text, args.max_tokens, args.batch_size, known)

    return BracketedCorpus(len(text), trees, gold, text.unsure(settled))


def _gold(
    args: argparse.Namespace,
    lines: Iterable[CorpusLine],
    sentences: int,
    name: str,
    unknown: str | None = None,
) -> GoldCorpus | None:
    if not args.trees:
        return None
    labels = COLLINS_LABELS if args.collins else frozenset()
    return read_gold_brackets(args.trees, lines, sentences, name, unknown, labels)


def _text_and_distances(
    args: argparse.Namespace, model: BaseFairseqModel, task: FairseqTask
) -> tuple[SourceText, ModelDistances]:
    """The side whose trees are wanted."""
    layer = args.layer or 0
    if args.side != TARGET:
        source = _side(args, task, SOURCE, args.segmented, args.subwords)
        return source, EncoderDistances(model, source, layer)
    source = _side(args, task, SOURCE, None, NO_SUBWORDS)
    target = _side(args, task, TARGET, args.segmented, args.subwords)
    if len(source) != len(target):
        raise UserError(
            f"{target.name} has {len(target)} lines, {source.name} {len(source)}: give "
            f"--translations a file that is parallel to --input"
        )
    return target, DecoderDistances(model, task, source, target, layer)


def _side(
    args: argparse.Namespace, task: FairseqTask, side: str, segmented: str | None, scheme: str
) -> SourceText:
    if not args.input:
        return read_split(task, args.gen_subset, segmented, scheme, side)
    if side == SOURCE:
        return read_segmented(args.input, task.source_dictionary, scheme)
    return read_segmented(args.translations, task.target_dictionary, scheme)
