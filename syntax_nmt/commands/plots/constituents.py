"""`syntax-nmt plot constituents`: a constituency tree, compared with a gold tree."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.commands.plots.sentence_choice import add_sentence_argument, chosen_trees
from syntax_nmt.data.annotation_transfer import check_same_text
from syntax_nmt.errors import UserError

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add(
        "trees", metavar="TREES", help="trees in brackets, one a line, as `syntax-nmt trees` writes"
    )
    add("--gold", metavar="FILE", help="gold trees of the same sentences")
    add_sentence_argument(parser)


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, or the sentence has no tree.
    """
    from syntax_nmt.pictures.plots.constituency_tree import draw_constituents
    from syntax_nmt.scoring.constituents.tree_file import read_tree_file

    tree, gold = chosen_trees(args, read_tree_file)
    if gold is not None:
        where, name = (f"{path}:{args.sentence}" for path in (args.gold, args.trees))
        if len(gold) != len(tree):
            raise UserError(
                f"{where}: the gold tree has {len(gold)} words, {name} {len(tree)}: give --gold "
                f"the trees of this very text"
            )
        check_same_text(tree.words, gold.words, where, name)

    return draw_constituents(tree, gold, args.title, args.room)
