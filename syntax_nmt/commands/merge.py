"""`syntax-nmt merge`: checks and joins the parts of several jobs."""

import argparse
import sys
from pathlib import Path

from syntax_nmt.arguments import file_with_parts
from syntax_nmt.data.text_files import check_writable
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.annotators.annotate import describe
from syntax_nmt.preparation.annotators.parts import PartFolder, merge_parts

EXAMPLE = "syntax-nmt merge --input words/train.en --output words/train.en.conllu"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `syntax-nmt merge`."""
    parser.add_argument("--input", type=Path, required=True, help="the --input of parse or chunk")
    parser.add_argument(
        "--output", type=file_with_parts, required=True, help="the --output of parse or chunk"
    )


def run(args: argparse.Namespace) -> None:
    """Joins the parts and removes them.

    Args:
        args: the options of :func:`add_arguments`.

    Raises:
        UserError: there are no parts; or some are missing, damaged or of another text.
    """
    check_writable(args.output, args.input)
    parts = PartFolder(args.output)
    if not parts.path.is_dir():
        raise UserError(
            f"{parts.path}: not there: give the --input and --output that the jobs were given"
        )
    with parts.held():
        counts = merge_parts(args.input, args.output, parts)
        parts.remove()
    print(f"{args.output}: {describe(counts)}", file=sys.stderr)
