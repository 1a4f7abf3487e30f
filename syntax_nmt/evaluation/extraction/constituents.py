"""A corpus with its constituency trees out of a model's syntactic distances."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask

from syntax_nmt.data.subwords import NO_SUBWORDS
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.base.options import SOURCE, TARGET
from syntax_nmt.evaluation.constituents.constituent_corpus import (
    BracketedCorpus,
    BracketedSentence,
    gold_brackets,
)
from syntax_nmt.evaluation.constituents.gold_brackets import CorpusLine
from syntax_nmt.evaluation.extraction.constituent_trees import bracketed
from syntax_nmt.evaluation.extraction.model_answers import ModelAnswers, structures_of
from syntax_nmt.evaluation.extraction.model_distances import DecoderDistances, EncoderDistances
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device, load_model, quiet_fairseq
from syntax_nmt.evaluation.trained_model.source_text import SourceText, read_segmented, read_split


def corpus_of_model(args: argparse.Namespace) -> BracketedCorpus:
    """The trees that a trained model has induced, whose text is checked against the gold trees
    beforehand.

    Raises:
        UserError: the model has no syntactic distances, or files do not belong together.
    """
    with quiet_fairseq():
        model, task = load_model(args.path, args.databin, choose_device(args.device))
        text, distances = _text_and_distances(args, model, task)
    lines = (CorpusLine(text[index].words, text[index].name) for index in range(len(text)))
    gold = gold_brackets(args, lines, len(text), text.name, text.unknown)
    settled = [None] * len(text) if gold is None else gold.sentences
    known = None if gold is None else gold.words

    def trees() -> Iterator[BracketedSentence]:
        sizes = args.max_tokens, args.batch_size
        return structures_of(distances, text, bracketed, *sizes, known)

    return BracketedCorpus(len(text), trees, gold, unknown_tokens=text.unsure(settled))


def _text_and_distances(
    args: argparse.Namespace, model: BaseFairseqModel, task: FairseqTask
) -> tuple[SourceText, ModelAnswers]:
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
