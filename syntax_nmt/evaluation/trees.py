"""`syntax-nmt trees`: dependency trees, and UAS, out of a trained model with supervised heads."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from tqdm import tqdm

from syntax_nmt.arguments import positive_int
from syntax_nmt.data.subwords import SCHEMES
from syntax_nmt.errors import UserError
from syntax_nmt.evaluation.output import STDOUT, open_output
from syntax_nmt.evaluation.parsed_corpus import ParsedCorpus, corpus_of_file, corpus_of_model
from syntax_nmt.evaluation.tree_report import TreeReport

EXAMPLE = (
    "syntax-nmt trees data-bin --path checkpoints/checkpoint_best.pt --gen-subset test "
    "--conllu words/test.de.conllu --output trees.conllu --draw 3"
)

DESCRIPTION = """\
Dependency trees out of the parent head of a model with supervised attention heads: the best tree
with one root over the words' attention weights (a word is its first subword). The trees go to
stdout or --output as CoNLL-U, UAS against --conllu goes to stderr and --json. With --hypothesis
the trees come from a file instead, and no model is needed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options.

    Args:
        parser: the subcommand's parser.
    """
    parser.description = DESCRIPTION
    _add_input(parser)
    _add_output(parser)
    model = parser.add_argument_group("running the model")
    model.add_argument(
        "--max-tokens",
        metavar="N",
        type=positive_int,
        default=12000,
        help="tokens of a batch, padding included (default: 12000)",
    )
    model.add_argument(
        "--batch-size", metavar="N", type=positive_int, help="sentences of a batch (default: any)"
    )
    device = model.add_mutually_exclusive_group()
    device.add_argument("--cpu", action="store_const", const="cpu", dest="device", help="no GPU")
    device.add_argument(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1, … (default: a GPU if there is one)"
    )


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to parse")
    add = group.add_argument
    add("databin", metavar="DATABIN", nargs="?", help="data folder that the model was trained with")
    add("--path", metavar="FILE", help="checkpoint of the model")
    add("--gen-subset", metavar="SPLIT", default="test", help="split to parse (default: test)")
    add("--input", metavar="FILE", help="parse this segmented source text instead of a split")
    add(
        "--segmented",
        metavar="FILE",
        help="the segmented source text that the split was made from; it tells the words where the "
        "split has unknown subwords",
    )
    add(
        "--subwords",
        choices=("auto", *SCHEMES),
        default="auto",
        help="how the text was segmented (default: told from the text)",
    )
    add("--hypothesis", metavar="FILE", help="score or draw these parses (CoNLL-U) instead")
    add("--conllu", metavar="FILE", help="reference parses, one sentence a block: prints UAS")
    add(
        "--no-punctuation",
        action="store_true",
        help="leave punctuation (of the reference) out of UAS",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to write")
    add = group.add_argument
    add(
        "--output",
        metavar="FILE",
        help="write the trees here (default: stdout, unless it is taken by a drawing or --json -)",
    )
    add("--json", metavar="FILE", help="write the figures here; - is stdout")
    add(
        "--draw",
        metavar="N",
        type=positive_int,
        default=0,
        help="draw the first N trees to stdout; ✗ marks words whose head in the reference is "
        "another, and says which",
    )
    add(
        "--sentences",
        metavar="LIST",
        type=_positions,
        default=frozenset(),
        help="draw these sentences, counted from 1: 3,17",
    )


def run(args: argparse.Namespace) -> None:
    """Parses, writes, scores and draws what the command line asks for.

    Args:
        args: as :func:`add_arguments` defines them.

    Raises:
        UserError: options that do not go together, or files that do not.
    """
    drawn = args.sentences | set(range(1, args.draw + 1))
    _check_options(args, bool(drawn))
    corpus = corpus_of_file(args) if args.hypothesis else corpus_of_model(args)
    _check_positions(args.sentences, len(corpus))
    report = TreeReport(corpus, drawn, punctuation=not args.no_punctuation)
    _write_trees(args, corpus, report, stdout_taken=bool(drawn) or args.json == STDOUT)
    if drawn:
        with open_output(STDOUT) as stream:
            colour = stream.isatty() and not os.environ.get("NO_COLOR")
            stream.write(report.drawings(colour))
    if args.json is not None:
        with open_output(args.json) as stream:
            stream.write(report.json())
    print(report.summary(), file=sys.stderr)


def _write_trees(
    args: argparse.Namespace, corpus: ParsedCorpus, report: TreeReport, stdout_taken: bool
) -> None:
    """Runs through the corpus once: the trees go to their file and into the report."""
    parses = _with_progress(corpus)
    if args.output is None and (stdout_taken or args.hypothesis):
        for parse in parses:
            report.add(parse)
        return
    with open_output(args.output or STDOUT) as stream:
        for parse in parses:
            stream.write(parse.conllu())
            report.add(parse)


def _with_progress(corpus: ParsedCorpus) -> Iterator:
    return iter(tqdm(corpus, total=len(corpus), unit="sentence", leave=False, disable=None))


def _check_options(args: argparse.Namespace, draws: bool) -> None:
    """Refuses what does not go together, before anything is loaded."""
    if args.hypothesis:
        for option in ("databin", "path", "input", "segmented"):
            if getattr(args, option):
                name = "DATABIN" if option == "databin" else f"--{option}"
                raise UserError(f"{name} and --hypothesis exclude each other: leave one out")
        if not (args.conllu or draws or args.output):
            raise UserError("--hypothesis alone does nothing: add --conllu, --draw or --sentences")
    elif not args.databin or not args.path:
        raise UserError(
            "give DATABIN and the checkpoint's --path, or parses to score as --hypothesis"
        )
    if args.input and args.segmented:
        raise UserError("--input is segmented text itself: leave --segmented out")
    if args.no_punctuation and not args.conllu:
        raise UserError("--no-punctuation is about UAS: add the reference as --conllu")
    if draws and args.json == STDOUT:
        raise UserError("the drawings go to stdout: give --json a file")
    if args.output == STDOUT and (draws or args.json == STDOUT):
        raise UserError("--output - together with drawings or --json -: give --output a file")


def _check_positions(positions: frozenset[int], sentences: int) -> None:
    for position in positions:
        if position > sentences:
            raise UserError(f"--sentences {position}: the corpus has {sentences} sentences")


def _positions(text: str) -> frozenset[int]:
    """Numbers separated by commas."""
    return frozenset(positive_int(part.strip()) for part in text.split(","))
