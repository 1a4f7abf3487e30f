"""Word alignments from the attention between pieces."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.inference.checkpoint import choose_device
from syntax_nmt.inference.extraction.cross_attention import CrossAttention
from syntax_nmt.inference.forced_arguments import forced_model, read_forced
from syntax_nmt.inference.forced_decoding import ForcedDecoder, load_forced_decoder
from syntax_nmt.scoring.alignments.aligned_corpus import FORWARD, REVERSE, AlignedCorpus
from syntax_nmt.scoring.alignments.alignment import Alignment, flipped
from syntax_nmt.scoring.parallel_text import SegmentedPairs, chosen_scheme


def word_attention(
    weights: np.ndarray, source_counts: Sequence[int], target_counts: Sequence[int]
) -> np.ndarray:
    """The attention between words, from that between pieces.

    Rows are averaged over the pieces of a target word; columns are summed over the pieces of a
    source word.

    Args:
        weights: T×S between pieces, without EOS.
        source_counts: the number of pieces of each source word; they add up to S.
        target_counts: likewise; they add up to T.

    Returns:
        target words × source words.
    """
    of_sources = _sums(weights, source_counts, axis=1)
    return _sums(of_sources, target_counts, axis=0) / np.asarray(target_counts)[:, None]


def strongest_links(attention: np.ndarray) -> Alignment:
    """Each target word linked to the source word that it attends to most, the first of equals.

    Args:
        attention: target words × source words.
    """
    if not attention.size:
        return frozenset()
    return frozenset(
        (int(source), target) for target, source in enumerate(attention.argmax(axis=1))
    )


def align_words(
    attention: CrossAttention,
    text: SegmentedPairs,
    max_tokens: int,
    batch_size: int | None = None,
) -> list[Alignment | None]:
    """The alignment of each pair by the attention of a model; None = too long for it.

    Args:
        max_tokens: as of :meth:`ForcedDecoder.batches`.
    """
    alignments: list[Alignment | None] = [None] * len(text.pairs)
    found = attention.matrices(text.pairs, max_tokens, batch_size)
    for index, weights in tqdm(
        found, total=len(alignments), unit="pair", leave=False, disable=None
    ):
        words = word_attention(weights, text.source.counts[index], text.target.counts[index])
        alignments[index] = strongest_links(words)
    return alignments


def _sums(weights: np.ndarray, counts: Sequence[int], axis: int) -> np.ndarray:
    """Sums over groups of neighbouring rows or columns, of these sizes."""
    starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=int)
    return np.add.reduceat(weights.astype(np.float64), starts.astype(int), axis=axis)


def corpus_of_models(args: argparse.Namespace) -> AlignedCorpus:
    """The alignments of `--path`, and of `--reverse-path` or `--reverse`.

    Raises:
        UserError: a model or a file cannot be used, or they do not belong together.
    """
    decoder, *segment = forced_model(args, args.path)
    pairs = read_forced(args, decoder, *segment)
    schemes = [chosen_scheme(args) or side.scheme for side in segment]
    text = SegmentedPairs.of(pairs, schemes, (args.source, args.target))
    corpus = AlignedCorpus(args.source, lengths=text.lengths())
    corpus.add(FORWARD, _aligned(args, args.path, decoder, text))
    if args.reverse_path:
        data = args.reverse_databin or args.databin
        parser = args.reverse_parser_config, "--reverse-parser-config"
        other = load_forced_decoder(args.reverse_path, data, choose_device(args.device), *parser)
        _check_direction(args, decoder, other)
        found = _aligned(args, args.reverse_path, other, text.flipped())
        corpus.add(REVERSE, [None if links is None else flipped(links) for links in found])
    corpus.add_reverse_file(args)
    return corpus


def _aligned(
    args: argparse.Namespace, path: str, decoder: ForcedDecoder, text: SegmentedPairs
) -> list[Alignment | None]:
    with errors_of(path):
        attention = CrossAttention(decoder, args.layer, args.heads)
    return align_words(attention, text, args.max_tokens, args.batch_size)


def _check_direction(
    args: argparse.Namespace, forward: ForcedDecoder, reverse: ForcedDecoder
) -> None:
    ours, others = forward.task.cfg, reverse.task.cfg
    if (ours.source_lang, ours.target_lang) != (others.target_lang, others.source_lang):
        raise UserError(
            f"{args.reverse_path} translates {others.source_lang}-{others.target_lang}, "
            f"{args.path} {ours.source_lang}-{ours.target_lang}: give --reverse-path a model of "
            f"the other direction"
        )
