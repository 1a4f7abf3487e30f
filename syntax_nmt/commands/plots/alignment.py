"""`syntax-nmt plot alignment`: a word alignment, gold links framed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syntax_nmt.commands.plots.sentence_choice import add_sentence_argument, chosen_parallel
from syntax_nmt.commands.shared.checks import require_companion_options
from syntax_nmt.commands.shared.models import add_base_argument, add_subwords_argument, scheme_of
from syntax_nmt.data.subwords import detect_scheme, join_pieces, pieces_per_word
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.errors import UserError, note

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add("--source", metavar="FILE", required=True, help="sentences, one a line")
    add("--target", metavar="FILE", required=True, help="their translations")
    add("--hypothesis", metavar="FILE", help="alignments (Pharaoh), as `syntax-nmt align` writes")
    add("--gold", metavar="FILE", help="gold alignments: i-j sure, ipj, i?j or i-j-P possible")
    add_base_argument(parser, "--hypothesis-base", "--hypothesis")
    add_base_argument(parser, "--gold-base", "the gold alignments")
    add_subwords_argument(parser)
    add_sentence_argument(parser)


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: options or files cannot be used.
    """
    from syntax_nmt.pictures.plots.alignment_matrix import draw_alignment
    from syntax_nmt.scoring.alignments.alignment import links_outside, read_alignments, read_gold

    if not (args.hypothesis or args.gold):
        raise UserError("there is nothing to draw: give alignments as --hypothesis or --gold")
    require_companion_options(args, {"hypothesis_base": ("hypothesis",), "gold_base": ("gold",)})
    columns: list[tuple[str, Sequence]] = [
        (path, list(read_lines(path))) for path in (args.source, args.target)
    ]
    if args.hypothesis:
        columns.append(
            (args.hypothesis, read_alignments(args.hypothesis, args.hypothesis_base or 0))
        )
    if args.gold:
        columns.append((args.gold, read_gold(args.gold, args.gold_base or 0)))
    found = chosen_parallel(columns, args.sentence)
    source, target = (_words(path, lines, args) for path, lines in columns[:2])
    links = found[2] if args.hypothesis else None
    gold = found[-1] if args.gold else None
    for name, given in (("--hypothesis", links), ("--gold", gold and gold.possible)):
        outside = list(links_outside(given or (), len(source), len(target)))
        if outside:
            note(f"{name}: {len(outside)} links to words that the sentences lack left out")

    return draw_alignment(source, target, links, gold, title=args.title)


def _words(path: str, lines: Sequence[str], args: argparse.Namespace) -> list[str]:
    scheme = scheme_of(args) or detect_scheme(lines)
    pieces = lines[args.sentence - 1].split()
    counts = pieces_per_word(pieces, scheme, f"{path}:{args.sentence}")
    words = join_pieces(pieces, counts, scheme)
    if not words:
        raise UserError(f"{path}:{args.sentence}: no words: choose another --sentence")
    return words
