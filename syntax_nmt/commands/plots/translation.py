"""`syntax-nmt plot translation`: a sentence that is translated now, its tree, and the attention."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from syntax_nmt.arguments import positive_int
from syntax_nmt.data.typed_words import typed_words
from syntax_nmt.errors import UserError

if TYPE_CHECKING:  # help starts without matplotlib and torch
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add = parser.add_argument
    add("data", metavar="DATA", help="the folder that `syntax-nmt prepare` wrote")
    add("--path", metavar="FILE", required=True, help="checkpoint of a model with supervised heads")
    add("--text", metavar="TEXT", required=True, help="the sentence, raw")
    add("--beam", metavar="N", type=positive_int, default=5, help="of the search (default: 5)")


def figure(args: argparse.Namespace) -> Figure:
    """Draws the picture of a command line.

    Raises:
        UserError: the model has no supervised heads, or cannot be used.
    """
    from syntax_nmt.inference.loading import load
    from syntax_nmt.pictures.plots.translated_sentence import draw_translation

    if not args.text.strip():
        raise UserError("--text: has no words: give a sentence")
    model = load(args.path, args.data)
    tree = model.trees(args.text, "dependencies")
    translation = model.nbest(args.text, args.beam)[0].text
    attended = model.attention(args.text, translation)
    if tree is None or attended is None:
        raise UserError("--text: too long for the model: give a shorter sentence")

    tree = replace(tree, words=typed_words(tree.words, args.text))
    target = typed_words(attended.target, translation)
    return draw_translation(tree, target, attended.weights, args.title)
