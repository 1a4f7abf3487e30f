"""Options of commands that run a model over raw text."""

import argparse

from syntax_nmt.commands.shared.models import (
    add_batch_arguments,
    add_device_arguments,
    add_parser_argument,
)
from syntax_nmt.inference.settings import MAX_TOKENS, SUBWORD_FILES, TOKENIZERS, Segmentation


def add_segmentation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of segmentation, for text not prepared by `syntax-nmt prepare`."""
    group = parser.add_argument_group(
        "segmenting the text (default: as `syntax-nmt prepare` did for DATABIN)"
    )
    add = group.add_argument
    add("--segmented", action="store_true", help="the text is already segmented")
    add(
        "--tokenizer",
        choices=TOKENIZERS,
        help="as for fairseq-interactive (default with --bpe: the text is already tokenised)",
    )
    add("--bpe", choices=list(SUBWORD_FILES), help="subwords (default with --tokenizer: none)")
    add(
        "--sentencepiece-model", metavar="FILE", help="model of --bpe sentencepiece, for both sides"
    )
    add("--bpe-codes", metavar="FILE", help="codes of --bpe subword_nmt or fastbpe, for both sides")


def segmentation_of(args: argparse.Namespace) -> Segmentation:
    """How a command line wants text to be segmented.

    Raises:
        UserError: as of :meth:`Segmentation.check`.
    """
    segmentation = Segmentation(
        args.segmented, args.tokenizer, args.bpe, args.sentencepiece_model, args.bpe_codes
    )
    segmentation.check(args.databin)
    return segmentation


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
