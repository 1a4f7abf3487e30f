"""Options of the commands that force a model to given translations."""

from __future__ import annotations

import argparse

from syntax_nmt.arguments import positive_int

MAX_TOKENS = 4000  # logits of 32,000 words in float32 take 0.5 GB, and their softmax as much again


def add_forcing_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds how the model runs."""
    group = parser.add_argument_group("running the model")
    _add_parser_config(group)
    add_batch_arguments(group, MAX_TOKENS, "pairs")


def add_single_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds how the model runs where it is forced to one translation alone."""
    group = parser.add_argument_group("running the model")
    _add_parser_config(group)
    _add_device(group)


def _add_parser_config(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--parser-config",
        metavar="FILE",
        help="for models that read the phrases of parsed sources (--phrase-segmentation parsed): "
        "the file parser.json that `syntax-nmt prepare` wrote",
    )


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
