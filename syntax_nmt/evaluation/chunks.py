"""`syntax-nmt chunks`: chunks, their accuracies and F1, out of a trained bi-scale decoder."""

from __future__ import annotations

import argparse
import sys

from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.alignment.aligned_corpus import AUTO
from syntax_nmt.evaluation.chunking.chunk_report import BRACKETS, FORMATS, IOB2, ChunkReport
from syntax_nmt.evaluation.chunking.chunked_corpus import corpus_of_file, corpus_of_model
from syntax_nmt.evaluation.output import STDOUT, check_outputs, open_output
from syntax_nmt.evaluation.trained_model.forced_arguments import add_forcing_arguments
from syntax_nmt.evaluation.trained_model.segmentation import (
    add_segmentation_arguments,
    check_segmentation,
)

EXAMPLE = (
    "syntax-nmt chunks data-bin --path checkpoints/checkpoint_best.pt --source test.de "
    "--target test.output --bpe sentencepiece --sentencepiece-model sentencepiece.model "
    "--format brackets"
)

DESCRIPTION = """\
The chunks that a bi-scale decoder sees in given translations, its own output or a reference, by
forced decoding: boundaries as a search chooses them, and the likeliest type of each chunk. They go
to stdout or --output, as IOB2 tags or bracketed text. Compared with --score, boundary and tag
accuracy are those that training logs: each decision after the gold boundaries before it, by
pieces, with the end of the sentence; F1 is conlleval's over the model's own chunks. With a
model --json has the loss of the words by their place in a chunk, too. With
--hypothesis the chunks come from a file instead, no model is needed, and accuracies are by words:
boundaries at all words but the first, and whether the chunk at the first word of a gold chunk has
its type.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options.

    Args:
        parser: the subcommand's parser.
    """
    parser.description = DESCRIPTION
    group = parser.add_argument_group("what to chunk")
    add = group.add_argument
    add("databin", metavar="DATABIN", nargs="?", help="data folder that the model was trained with")
    add("--path", metavar="FILE", help="checkpoint of the model")
    add("--source", metavar="FILE", help="sentences, one a line")
    add("--target", metavar="FILE", help="their translations (with --hypothesis: its words)")
    add(
        "--subwords",
        choices=(AUTO, *SCHEMES),
        default=AUTO,
        help="how pieces tell words (default: told from the text)",
    )
    add("--hypothesis", metavar="FILE", help="take these chunks (IOB2) instead")
    add_segmentation_arguments(parser)
    _add_output(parser)
    add_forcing_arguments(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add(
        "--score",
        metavar="GOLD",
        help="reference chunks (IOB2), one sentence a line, empty where there is no annotation: "
        "prints boundary accuracy, tag accuracy and F1",
    )
    add(
        "--output",
        metavar="FILE",
        help="write the chunks here (default: stdout, unless --json - or --alignments - takes it, "
        "or they are those of --hypothesis in IOB2)",
    )
    add("--format", choices=FORMATS, default=IOB2, help="of the chunks (default: %(default)s)")
    add(
        "--alignments",
        metavar="FILE",
        help="write the attention of chunks to source words here, a JSON object a sentence: "
        "source, chunks, attention (a row a chunk)",
    )
    add("--json", metavar="FILE", help="write the figures here; - is stdout")


def run(args: argparse.Namespace) -> None:
    """Chunks or reads, writes and scores.

    Args:
        args: as :func:`add_arguments` defines them.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    _check_options(args)
    corpus = corpus_of_file(args) if args.hypothesis else corpus_of_model(args)
    report = ChunkReport(corpus)
    nothing_new = args.hypothesis and args.format == IOB2
    if args.output or not (nothing_new or STDOUT in (args.json, args.alignments)):
        with open_output(args.output or STDOUT) as stream:
            stream.writelines(report.lines(args.format))
    if args.alignments:
        with open_output(args.alignments) as stream:
            stream.writelines(report.alignments())
    if args.json:
        with open_output(args.json) as stream:
            stream.write(report.json())
    print(report.summary(), file=sys.stderr)


def _check_options(args: argparse.Namespace) -> None:
    """Refuses what does not go together, before anything is loaded."""
    if args.hypothesis:
        _check_without_model(args)
    elif not (args.databin and args.path and args.source and args.target):
        raise UserError(
            "give DATABIN, the checkpoint's --path, --source and --target, or chunks as "
            "--hypothesis"
        )
    else:
        check_segmentation(args)
    if [args.output, args.json, args.alignments].count(STDOUT) > 1:
        raise UserError("--output, --json and --alignments: only one of them can be - (stdout)")
    inputs = [args.path, args.source, args.target, args.hypothesis, args.score]
    check_outputs([args.json, args.output, args.alignments], inputs)


def _check_without_model(args: argparse.Namespace) -> None:
    for option in ("databin", "path", "source", "alignments"):
        if getattr(args, option) is not None:
            name = "DATABIN" if option == "databin" else f"--{option}"
            raise UserError(f"{name} and --hypothesis exclude each other: leave one out")
    if args.format == BRACKETS and not args.target:
        raise UserError("--format brackets needs the words of --hypothesis: add --target")
    if not (args.score or args.output or args.json or args.format == BRACKETS):
        raise UserError("--hypothesis alone does nothing: add --score or --format brackets")
