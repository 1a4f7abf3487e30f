"""A corpus with the chunks that a bi-scale decoder sees in it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from syntax_nmt.data.projection import project_chunks
from syntax_nmt.errors import errors_of
from syntax_nmt.evaluation.base.options import chosen_scheme
from syntax_nmt.evaluation.base.segmented_text import SegmentedPairs, read_pairs
from syntax_nmt.evaluation.chunking.chunked_corpus import ChunkedCorpus
from syntax_nmt.evaluation.chunking.position_loss import nll_by_position
from syntax_nmt.evaluation.extraction.chunk_prediction import ChunkPredictor
from syntax_nmt.evaluation.trained_model.forced_arguments import forced_model


def corpus_of_model(args: argparse.Namespace) -> ChunkedCorpus:
    """The chunks that `--path` sees in `--target`, a translation of `--source`.

    Raises:
        UserError: the model or a file cannot be used, or they do not belong together.
    """
    decoder, *segment = forced_model(args, args.path)
    with errors_of(args.path):
        predictor = ChunkPredictor(decoder, args.max_tokens, args.batch_size)
    pairs = read_pairs(args.source, args.target, *segment)
    text = SegmentedPairs.of(pairs, chosen_scheme(args), (args.source, args.target))
    corpus = ChunkedCorpus(
        args.target,
        [None] * len(pairs),
        words=text.target.words,
        sources=text.source.words,
        alignments=[None] * len(pairs) if args.alignments else None,
    )
    # Before the model runs, as it can fail.
    corpus.read_gold(args, [len(words) for words in text.target.words])
    found = _predict(predictor, text, corpus)
    of_pieces = {index: tags for index, (tags, _) in found.items()}
    if corpus.gold is not None:
        of_pieces = _gold_pieces(corpus, text, predictor.names)
        corpus.accuracies = predictor.accuracies(pairs, of_pieces)
    corpus.losses = nll_by_position((tags, found[index][1]) for index, tags in of_pieces.items())
    return corpus


def _predict(
    predictor: ChunkPredictor, text: SegmentedPairs, corpus: ChunkedCorpus
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Fills in what the model says; gives tags and losses of the pieces of each sentence."""
    found = tqdm(
        predictor.choices(text.pairs), total=len(corpus), unit="sentence", leave=False, disable=None
    )
    of_pieces = {}
    for index, pieces in found:
        sources, targets = text.source.counts[index], text.target.counts[index]
        chunks = pieces.of_words(targets, predictor.names)
        corpus.chunks[index] = chunks
        if corpus.alignments is not None:
            corpus.alignments[index] = pieces.alignment(chunks, sources, targets)
        of_pieces[index] = pieces.tags, pieces.nll
    corpus.too_long = len(corpus) - len(of_pieces)
    return of_pieces


def _gold_pieces(
    corpus: ChunkedCorpus, text: SegmentedPairs, names: Sequence[str]
) -> dict[int, np.ndarray]:
    """The reference as the model has it, by sentence; unknown types have an id of their own."""
    ids = {name: number for number, name in enumerate(names, start=1)}
    unknown = len(names) + 2  # after the end of the sentence
    gold = corpus.gold or []
    ids.update(
        {chunk.tag: unknown for chunks in gold for chunk in chunks or () if chunk.tag not in ids}
    )
    return {
        index: project_chunks(gold[index] or (), text.target.counts[index], ids)
        for index in corpus.scored()
    }
