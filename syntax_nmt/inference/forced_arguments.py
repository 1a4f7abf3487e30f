"""The trained model of a command line, for forced decoding."""

from __future__ import annotations

import argparse

from syntax_nmt.inference.arguments import (
    add_batch_arguments,
    add_device_arguments,
    add_parser_argument,
)
from syntax_nmt.inference.checkpoint import choose_device
from syntax_nmt.inference.forced_decoding import ForcedDecoder, load_forced_decoder
from syntax_nmt.inference.segmentation import Segment, add_segmentation_arguments, segmenters
from syntax_nmt.inference.unfit_text import forcing_advice, note_unfit
from syntax_nmt.scoring.parallel_text import TokenPair, read_parallel

MAX_TOKENS = 4000  # logits of 32,000 words in float32 take 0.5 GB, and their softmax as much again


def add_forcing_arguments(parser: argparse.ArgumentParser, batches: bool = True) -> None:
    """Adds the options for segmentation and execution.

    Args:
        batches: whether it runs over a corpus, and not over one pair.
    """
    add_segmentation_arguments(parser)
    group = parser.add_argument_group("running the model")
    add_parser_argument(group)
    if batches:
        add_batch_arguments(group, MAX_TOKENS, "pairs")
    else:
        add_device_arguments(group)


def forced_model(args: argparse.Namespace, path: str) -> tuple[ForcedDecoder, Segment, Segment]:
    """A checkpoint, and the segmenters of its source and its target.

    Raises:
        UserError: the checkpoint, the parser's configuration or a tokenizer cannot be used.
    """
    device = choose_device(args.device)
    decoder = load_forced_decoder(path, args.databin, device, args.parser_config)
    return decoder, *segmenters(args, decoder.task)


def read_forced(
    args: argparse.Namespace, decoder: ForcedDecoder, segment: Segment, segment_target: Segment
) -> list[TokenPair]:
    """The pairs of `--source` and `--target`; warns on stderr if a text looks wrong.

    Raises:
        UserError: a file cannot be read, or they have different numbers of lines.
    """
    sources, targets = read_parallel(args.source, args.target)
    pairs = [TokenPair(segment(x), segment_target(y)) for x, y in zip(sources, targets)]
    advice = forcing_advice(args)
    note_unfit(decoder.task, args.source, sources, [pair.source for pair in pairs], advice)
    note_unfit(decoder.task, args.target, targets, [pair.target for pair in pairs], advice, True)
    return pairs
