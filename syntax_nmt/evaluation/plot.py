"""`syntax-nmt plot`: pictures of structures and figures, as SVG, PNG or PDF."""

from __future__ import annotations

import argparse
import sys

from syntax_nmt.evaluation.plots.kinds import (
    alignment,
    attention,
    chunks,
    constituents,
    contrast,
    dependencies,
    distances,
    length,
)
from syntax_nmt.evaluation.plots.picture_format import (
    add_size_arguments,
    picture_format,
    picture_size,
)
from syntax_nmt.reporting.output import check_outputs

KINDS = {
    "attention": attention,
    "alignment": alignment,
    "dependencies": dependencies,
    "constituents": constituents,
    "distances": distances,
    "chunks": chunks,
    "length": length,
    "contrast": contrast,
}

# What kinds of pictures read: options that name files.
_FILES = ("path", "source", "target", "trees", "hypothesis", "gold", "alignments")
_SEGMENTATION = ("sentencepiece_model", "bpe_codes")
_READABLE = 5.0  # points

EXAMPLE = "\n  ".join(kind.EXAMPLE for kind in KINDS.values())

DESCRIPTION = """\
Draws a picture. The end of --output's name says whether it is SVG, PNG or PDF. Pictures are
readable in grey, and the same input gives the same file. In SVG letters are text. Where no
installed font has a letter, a warning says what to install.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the kinds of pictures, each with its options."""
    parser.description = DESCRIPTION
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True, title="kinds")
    for name, kind in KINDS.items():
        of_kind = kinds.add_parser(
            name,
            help=kind.SUMMARY,
            description=kind.SUMMARY,
            epilog=f"example:\n  {kind.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        kind.add_arguments(of_kind)
        group = of_kind.add_argument_group("what to write")
        group.add_argument(
            "--output",
            metavar="FILE",
            required=True,
            help="the picture; ends in .svg, .png or .pdf",
        )
        group.add_argument(
            "--title", metavar="TEXT", default="", help="stands above (default: none)"
        )
        add_size_arguments(group)


def run(args: argparse.Namespace) -> None:
    """Draws and writes; warns of letters that do not show.

    Raises:
        UserError: options or files cannot be used.
    """
    picture_format(args.output)
    kind = KINDS[args.kind]
    given = [getattr(args, name, None) for name in (*_FILES, *_SEGMENTATION)]
    check_outputs([args.output], [*given, *getattr(args, "figures", ())])
    size = picture_size(args)
    args.room = size.room
    figure = kind.figure(args)
    # These load matplotlib.
    from syntax_nmt.evaluation.plots.figure_file import save_figure, unshown
    from syntax_nmt.evaluation.plots.fonts import advice

    letters_are = save_figure(figure, args.output, size)
    if letters_are < _READABLE:
        print(
            f"note: {args.output}: words of {letters_are:.1f} points: give more --width",
            file=sys.stderr,
        )
    letters = unshown(figure)
    if letters:
        print(f"warning: {advice(letters)}", file=sys.stderr)
