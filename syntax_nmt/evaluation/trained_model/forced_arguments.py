"""A trained model of a command line, which is forced to given translations."""

from __future__ import annotations

import argparse

from syntax_nmt.arguments import add_files, positive_int
from syntax_nmt.evaluation.trained_model.checkpoint import choose_device
from syntax_nmt.evaluation.trained_model.forced_decoding import ForcedDecoder, load_forced_decoder
from syntax_nmt.evaluation.trained_model.segmentation import (
    Segment,
    add_segmentation_arguments,
    segmenters,
)

MAX_TOKENS = 4000  # logits of 32,000 words in float32 take 0.5 GB, and their softmax as much again


def add_model_arguments(group: argparse._ActionsContainer, needed: bool = False) -> None:
    """Adds the checkpoint and its data folder.

    Args:
        needed: refuses a command line without them.
    """
    add = group.add_argument
    databin = "data folder that the model was trained with"
    add("databin", metavar="DATABIN", nargs=None if needed else "?", help=databin)
    add("--path", metavar="FILE", required=needed, help="checkpoint of the model")


def add_forcing_arguments(parser: argparse.ArgumentParser, batches: bool = True) -> None:
    """Adds how text is segmented and how the model runs.

    Args:
        batches: whether it runs over a corpus, and not over one pair.
    """
    add_segmentation_arguments(parser)
    group = parser.add_argument_group("running the model")
    add_files(
        group,
        parser_config="for models that read the phrases of parsed sources (--phrase-segmentation "
        "parsed): the file parser.json that `syntax-nmt prepare` wrote",
    )
    if batches:
        add_batch_arguments(group, MAX_TOKENS, "pairs")
    else:
        _add_device(group)


def forced_model(args: argparse.Namespace, path: str) -> tuple[ForcedDecoder, Segment, Segment]:
    """A checkpoint, and what segments its source and its target.

    Raises:
        UserError: the checkpoint, the parser's configuration or a tokenizer cannot be used.
    """
    device = choose_device(args.device)
    decoder = load_forced_decoder(path, args.databin, device, args.parser_config)
    return decoder, *segmenters(args, decoder.task)


def add_batch_arguments(group: argparse._ArgumentGroup, tokens: int, unit: str) -> None:
    """Adds the size of batches, and where the model runs.

    Args:
        tokens: of a batch, by default.
        unit: what a batch is made of.
    """
    add = group.add_argument
    add(
        "--max-tokens",
        metavar="N",
        type=positive_int,
        default=tokens,
        help="tokens of a batch on either side, padding included (default: %(default)s)",
    )
    add("--batch-size", metavar="N", type=positive_int, help=f"{unit} of a batch (default: any)")
    _add_device(group)


def _add_device(group: argparse._ArgumentGroup) -> None:
    device = group.add_mutually_exclusive_group()
    device.add_argument("--cpu", action="store_const", const="cpu", dest="device", help="no GPU")
    device.add_argument(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1, … (default: a GPU if there is one)"
    )
