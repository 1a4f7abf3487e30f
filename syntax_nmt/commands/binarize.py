"""`syntax-nmt binarize`: adds annotation to a data-bin folder of fairseq-preprocess."""

import argparse
from functools import partial
from pathlib import Path

from syntax_nmt.arguments import argument, positive_int
from syntax_nmt.commands.shared.annotating import (
    add_feature_options,
    add_mismatch_options,
    feature_threshold,
)
from syntax_nmt.data.data_bin_names import plain_name
from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.errors import UserError

EXAMPLE = (
    "syntax-nmt binarize --source-lang de --target-lang en --trainpref bpe/train "
    "--validpref bpe/valid --testpref bpe/test --words tok --destdir data-bin"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    add = parser.add_argument
    add_language = partial(add, required=True, type=argument(plain_name))
    add_language("-s", "--source-lang", metavar="SRC", help="source language")
    add_language("-t", "--target-lang", metavar="TGT", help="target language")
    for split in ("train", "valid", "test"):
        add(
            f"--{split}pref",
            metavar="PREFIX",
            help=f"{split} text in subwords, as given to fairseq-preprocess; several prefixes, "
            f"separated by commas, are those of {split}, {split}1, … in DATABIN",
        )
    add(
        "--words",
        metavar="DIR",
        help="folder of the tokenised text and its annotation files, with the same names: "
        "train.de, train.de.conllu (dependencies), train.de.trees (constituents), "
        "train.en.chunks; each file may end in .gz (default: the folder of each prefix)",
    )
    add("--destdir", required=True, metavar="DATABIN", help="folder that fairseq-preprocess wrote")
    add(
        "--subwords",
        choices=("auto", *SCHEMES),
        default="auto",
        help="segmentation of the text (default: detected from the text)",
    )
    add("--workers", type=positive_int, default=1, metavar="N", help="processes (default: 1)")
    add_mismatch_options(parser)
    add_feature_options(parser)
    add(
        "--labels",
        type=Path,
        metavar="FILE|FOLDER",
        help="take a list of labels (dict.upos.txt), or all lists of a data-bin folder, in place "
        "of those of the training text, so that fairseq-train can read several folders",
    )


def run(args: argparse.Namespace) -> None:
    """Binarises what the command line names and prints what was found.

    Args:
        args: the parsed options.
    """
    from syntax_nmt.preparation.binarizing import binarize

    threshold = feature_threshold(args)
    if args.labels is not None and args.labels.is_dir() and args.feature_threshold:
        raise UserError("--feature-threshold does nothing with the lists of --labels: leave it out")
    # Every option is one of its arguments.
    binarize(**{**vars(args), "feature_threshold": threshold})
