"""`syntax-nmt plot gates`: the arcs of a sentence, and how far a layer opens their gates."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from syntax_nmt.arguments import add_numbers
from syntax_nmt.commands.plots.model_sentence import add_model_sentence_arguments, model_sentence
from syntax_nmt.data.dependency_tree import DependencyTree

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_model_sentence_arguments(parser)
    add_numbers(parser, int, layer=(-1, "counted from 0 at the bottom or from -1 at the top"))


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Each arc has the gates of the message to the head and of that to the dependent, such as
    `.71 .20`.

    Raises:
        UserError: options, the model or the files cannot be used.
    """
    from syntax_nmt.inference.extraction.arc_gates import arc_gates
    from syntax_nmt.pictures.plots.dependency_arcs import draw_dependencies

    sentence = model_sentence(args)
    found = arc_gates(sentence.decoder, sentence.pair, args.layer)
    gates = zip(*found.gates.values())
    names = tuple(" ".join(f"{gate:.2f}".lstrip("0") for gate in each) for each in gates)
    labels = tuple(sentence.source.labels())
    tree = DependencyTree(labels, found.heads, names, ("_",) * len(labels))
    title = args.title or f"gates: {', '.join(found.gates)}"
    return draw_dependencies(tree, None, True, title, args.room)
