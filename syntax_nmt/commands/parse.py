"""`syntax-nmt parse`: parses a tokenised text, offline."""

import argparse
from pathlib import Path

from syntax_nmt.arguments import file_with_parts
from syntax_nmt.commands.shared.annotating import (
    AnnotatorSettings,
    add_model_options,
    add_shard_options,
    add_worker_options,
    refuse_unused_models,
    run_annotation,
    uses_stanza,
)
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.parser import DEPENDENCIES
from syntax_nmt.parsing.program import OPTION

EXAMPLE = (
    "syntax-nmt parse --lang en --input words/train.en --output words/train.en.conllu "
    "--stanza-dir stanza_resources --workers 4"
)
RESUMES = "input"
_KINDS = (DEPENDENCIES, "constituents")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt parse`."""
    parser.add_argument("--lang", required=True, help="language of the text, such as en")
    parser.add_argument(
        "--input",
        type=Path,
        required=True,
        help="the text: words separated by spaces, one sentence per line; may be .gz",
    )
    parser.add_argument(
        "--output",
        type=file_with_parts,
        required=True,
        help="file for the trees: CoNLL-U, '# parse = none' for no parse; or one bracketed "
        "tree per line, () for no tree",
    )
    parser.add_argument(
        "--kind",
        choices=_KINDS,
        help="kind of trees (default: constituents if the output ends in .trees, else "
        "dependencies)",
    )
    add_model_options(parser, *_KINDS)
    add_worker_options(parser)
    add_shard_options(parser)


def run(args: argparse.Namespace) -> None:
    """Parses one file, or a shard of it, and reports what could not be parsed.

    Args:
        args: the options of :func:`add_arguments`.

    Raises:
        UserError: a model is given that the trees are not made with, or a parser that makes no
            such trees.
    """
    kind = args.kind or ("constituents" if args.output.suffix == ".trees" else DEPENDENCIES)
    if kind != DEPENDENCIES and not uses_stanza(args):
        raise UserError(
            f"{OPTION if args.parser is None else f'--parser {args.parser}'} makes {DEPENDENCIES}, "
            f"and {kind} are wanted: leave it out (Stanza makes them), or give --kind "
            f"{DEPENDENCIES}"
        )
    refuse_unused_models(args, *([kind] if uses_stanza(args) else []))
    run_annotation(args, AnnotatorSettings.of(args).annotator(kind, args.lang))
