"""Syntactic distances as bars over the gaps between tokens (Harada and Watanabe, 2021)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from syntax_nmt.pictures.plots.style import (
    FONT_SIZE,
    SMALL,
    axes_in_points,
    figure_in_points,
    legend_below,
    picture_style,
    widest,
)

BETWEEN, WITHIN = "between words", "within a word"

_TOKEN, _HEIGHT, _GAP = 15.0, 34.0, 8.0  # points a token, of a row of bars, between rows
_BARS: dict[str, dict[str, Any]] = {
    BETWEEN: {"facecolor": "0.25", "edgecolor": "0.25"},
    WITHIN: {"facecolor": "white", "edgecolor": "0.4", "hatch": "//////"},
}


@dataclass(frozen=True)
class TokenDistances:
    """The distances of one side of a sentence.

    Attributes:
        name: of the side, such as `source`.
        tokens: T of them.
        opens_word: whether each token is the first of a word.
        rows: for each name of a row, such as `head 3`, the distance before each token: T numbers,
            of which the first is before the sentence and not shown.
    """

    name: str
    tokens: Sequence[str]
    opens_word: Sequence[bool]
    rows: dict[str, np.ndarray]


def draw_distances(sides: Sequence[TokenDistances], title: str = "") -> Figure:
    """Rows of bars, one per head; the tokens are below the rows of their side.

    A bar stands between the two tokens that it parts; the higher, the further apart they are in the
    tree. Bars begin at the least distance that is shown: only their order has a meaning.

    Args:
        sides: source, translation, or both.
        title: above all.
    """
    texts = [text for side in sides for text in (side.name, *side.tokens, *side.rows)]
    with picture_style([*texts, title]) as families:
        words = [_label_height(side.tokens, families) for side in sides]
        heights = [len(side.rows) * (_HEIGHT + _GAP) + word for side, word in zip(sides, words)]
        width = _TOKEN * max((len(side.tokens) for side in sides), default=1)
        figure = figure_in_points(width, sum(heights))
        figure.set_label(title or "syntactic distances")
        scale = _scale(sides)
        top = sum(heights)
        for side, height in zip(sides, heights):
            _draw_side(figure, side, top, scale)
            top -= height
        _legend(figure, sides)
        if title:
            figure.suptitle(title, y=1 + 14 / sum(heights), va="bottom", fontsize=FONT_SIZE)
        return figure


def _label_height(tokens: Sequence[str], families: list[str]) -> float:
    """The room that upright tokens take below the bars."""
    return widest(tokens, families) + 16


def _scale(sides: Sequence[TokenDistances]) -> tuple[float, float]:
    """The least and the greatest end of the axis."""
    shown = [values[1:] for side in sides for values in side.rows.values() if len(values) > 1]
    if not shown:
        return -1.0, 1.0
    values = np.concatenate(shown)
    low, high = float(values.min()), float(values.max())
    room = max(high - low, 0.02) * 0.08
    return low - room, high + room


def _draw_side(
    figure: Figure, side: TokenDistances, top: float, scale: tuple[float, float]
) -> None:
    width = _TOKEN * len(side.tokens)
    for index, (name, values) in enumerate(side.rows.items()):
        bottom = top - (index + 1) * (_HEIGHT + _GAP) + _GAP
        axes = axes_in_points(figure, 0, bottom, max(width, 1), _HEIGHT)
        axes.set_xlim(-0.5, len(side.tokens) - 0.5)
        axes.set_ylim(*scale)
        _draw_bars(axes, side, values, scale[0])
        axes.set_ylabel(f"{side.name}\n{name}", rotation=0, ha="right", va="center", fontsize=SMALL)
        axes.tick_params(axis="y", labelsize=SMALL - 0.5, length=2, pad=1.5)
        axes.yaxis.tick_right()
        axes.locator_params(axis="y", nbins=3)
        last = index == len(side.rows) - 1
        labels = side.tokens if last else [""] * len(side.tokens)
        axes.set_xticks(range(len(side.tokens)), labels, rotation=90, fontsize=FONT_SIZE)
        axes.tick_params(axis="x", length=0, pad=2)
        axes.spines["top"].set_visible(False)


def _draw_bars(axes: Axes, side: TokenDistances, values: np.ndarray, base: float) -> None:
    for kind, opens in ((BETWEEN, True), (WITHIN, False)):
        places = [i for i in range(1, len(side.tokens)) if side.opens_word[i] == opens]
        if places:
            axes.bar(
                [place - 0.5 for place in places],
                [float(values[place]) - base for place in places],
                width=0.55,
                bottom=base,
                linewidth=0.5,
                label=kind,
                **_BARS[kind],
            )


def _legend(figure: Figure, sides: Sequence[TokenDistances]) -> None:
    """Only where some words have several tokens."""
    if not all(all(side.opens_word) for side in sides):
        handles = [Patch(label=kind, linewidth=0.5, **_BARS[kind]) for kind in (BETWEEN, WITHIN)]
        legend_below(figure, handles, borderaxespad=0)
