"""`syntax-nmt plot dependencies`: a dependency tree, compared with a reference."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from syntax_nmt.commands.plots.sentence_choice import add_sentence_argument, chosen_trees
from syntax_nmt.data.conllu import read_conllu
from syntax_nmt.scoring.dependencies.reference import over_same_words

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add("trees", metavar="CONLLU", help="parses, as `syntax-nmt trees` writes them")
    add("--gold", metavar="FILE", help="reference parses of the same sentences (CoNLL-U)")
    add("--no-relations", action="store_true", help="leave the names of relations out")
    add_sentence_argument(parser)


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: files cannot be used, or the sentence has no parse.
    """
    from syntax_nmt.pictures.plots.dependency_arcs import draw_dependencies

    tree, reference = chosen_trees(args, partial(read_conllu, one_root=False))
    if reference is not None:
        where, name = f"{args.gold}:{reference.line}", f"{args.trees}:{tree.line}"
        tree, reference = over_same_words(tree, reference, where, name)

    return draw_dependencies(tree, reference, not args.no_relations, args.title, args.room)
