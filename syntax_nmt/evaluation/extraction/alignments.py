"""The alignments of a corpus out of models, by direction."""

from __future__ import annotations

import argparse

from syntax_nmt.errors import UserError, errors_of
from syntax_nmt.evaluation.alignment.aligned_corpus import FORWARD, REVERSE, AlignedCorpus
from syntax_nmt.evaluation.alignment.alignment import Alignment, flipped
from syntax_nmt.evaluation.base.options import chosen_scheme
from syntax_nmt.evaluation.base.segmented_text import SegmentedPairs, read_pairs
from syntax_nmt.evaluation.extraction.attention_alignment import align_words
from syntax_nmt.evaluation.extraction.cross_attention import CrossAttention
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device
from syntax_nmt.evaluation.trained_model.forced_arguments import forced_model
from syntax_nmt.evaluation.trained_model.forced_decoding import ForcedDecoder, load_forced_decoder


def corpus_of_models(args: argparse.Namespace) -> AlignedCorpus:
    """The alignments of `--path`, and of `--reverse-path` or `--reverse`.

    Raises:
        UserError: a model or a file cannot be used, or they do not belong together.
    """
    decoder, *segment = forced_model(args, args.path)
    pairs = read_pairs(args.source, args.target, *segment)
    text = SegmentedPairs.of(pairs, chosen_scheme(args), (args.source, args.target))
    corpus = AlignedCorpus(args.source, lengths=text.lengths(), base=args.hypothesis_base)
    corpus.add(FORWARD, _aligned(args, args.path, decoder, text))
    if args.reverse_path:
        data = args.reverse_databin or args.databin
        other = load_forced_decoder(args.reverse_path, data, choose_device(args.device))
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
