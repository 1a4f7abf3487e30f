"""A sentence, the tree that a model sees in it, and where each word of the translation looks."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.pictures.plots.dependency_arcs import arcs_height, draw_arcs, word_places
from syntax_nmt.pictures.plots.style import FONT_SIZE, blank_axes, picture_style, text_width

_LINE, _BETWEEN = 1.6 * FONT_SIZE, 60.0  # points: of a line of words, between the two lines
_SPACE = 9.0  # between words of the translation
_FAINTEST = 0.08  # lighter lines would not show


def draw_translation(
    tree: DependencyTree, target: Sequence[str], weights: np.ndarray, title: str = ""
) -> Figure:
    """Arcs above the source words; lines between the words, the darker the more they attend.

    Args:
        tree: over the source words.
        target: words of the translation.
        weights: target × source, each from 0 to 1.
        title: above the arcs.
    """
    with picture_style([*tree.words, *target, title]) as families:
        source_centres, source_width = word_places(tree, families)
        widths = np.array([text_width(word, FONT_SIZE, families) for word in target])
        width = max(source_width, widths.sum() + _SPACE * (len(target) - 1))
        space = (width - widths.sum()) / max(len(target) - 1, 1)  # the translation is as wide
        target_centres = np.cumsum(widths + space) - space - widths / 2
        shift = (width - source_width) / 2
        source_centres = [centre + shift for centre in source_centres]
        base = 2 * _LINE + _BETWEEN
        figure, axes = blank_axes(width, base + arcs_height(tree))
        figure.set_label(title or f"tree and attention: {' '.join(tree.words)}")
        axes.set_title(title, pad=4)
        draw_arcs(axes, tree, source_centres, base)
        for words, centres, y in (
            (tree.words, source_centres, base - _LINE / 2),
            (target, target_centres, _LINE / 2),
        ):
            for word, centre in zip(words, centres):
                axes.text(centre, y, word, ha="center", va="center_baseline")
        for row, column in zip(*np.nonzero(weights >= _FAINTEST)):
            axes.plot(
                [source_centres[column], target_centres[row]], [base - _LINE, _LINE],
                color="#0072b2", alpha=min(1.0, float(weights[row, column])), linewidth=1.6,
                solid_capstyle="round",
            )  # fmt: skip
        return figure
