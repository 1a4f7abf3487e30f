"""A constituency tree above its words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from syntax_nmt.data.constituents import (
    UNNAMED_CONSTITUENT,
    UNNAMED_WORD,
    Constituent,
    ConstituentTree,
)
from syntax_nmt.pictures.plots.style import (
    AGREES,
    DIFFERS,
    FONT_SIZE,
    SMALL,
    blank_axes,
    legend_below,
    picture_style,
    text_width,
    widest,
)
from syntax_nmt.scoring.constituents.bracketing import Span, brackets_of
from syntax_nmt.text.joints import plain_hyphens

BRANCH = "branch"

_LEVEL, _LEAST_LEVEL, _TALLEST = 22.0, 11.0, 420.0  # points
_SPACE = 8.0
_NODE: dict[str, Any] = {"marker": "o", "markeredgecolor": "black", "markersize": 4}
_DASHES: Any = (0, (3, 2))
_ROW = 13.0  # points between words that stand below each other

Spot = tuple[float, float]


def draw_constituents(
    tree: ConstituentTree,
    gold: ConstituentTree | None = None,
    title: str = "",
    room: float | None = None,
) -> Figure:
    """All words are on one line; a node is above the middle between its outer children.

    Branches run level and then down, so that none meets another, however deep the tree is.

    With a gold tree, constituents of two words or more that it does not have are hollow, and the
    branches below them dashed. The gold tree's labels do not count.

    A tree that is wider than the room for it goes down the page: a word a line, on the right.

    Args:
        tree: what to draw; nodes labelled X or W, as induced ones are, show no label.
        gold: over the same words.
        title: above the tree.
        room: the most that it may be wide, in points; None = any.
    """
    tree = replace(tree, words=plain_hyphens(tree.words))
    labels = [_label(node) for node in tree.nodes]
    with picture_style([*tree.words, *labels, title]) as families:
        words, width = _word_places(tree, labels, families)
        heights = _heights(tree.nodes)
        known = None if gold is None else frozenset(brackets_of(gold))
        if room is not None and width > room:
            figure, axes, places = _down_the_page(tree, labels, heights, families)
            _draw_branches(axes, tree.nodes, places, known, level_first=False)
        else:
            figure, axes, places = _across_the_page(tree, labels, heights, words, width)
            _draw_branches(axes, tree.nodes, places, known, level_first=True)
        figure.set_label(title or f"constituency tree: {' '.join(tree.words)}")
        _draw_nodes(axes, tree.nodes, labels, places, known)
        axes.set_title(title, pad=10)
        if known is not None:
            _legend(axes, bool(any(labels)))
        return figure


def _across_the_page(
    tree: ConstituentTree,
    labels: Sequence[str],
    heights: Sequence[int],
    words: Sequence[float],
    width: float,
) -> tuple[Figure, Axes, list[Spot]]:
    """Words on one line; and where the nodes are."""
    level = min(_LEVEL, max(_LEAST_LEVEL, _TALLEST / max(heights[0], 1)))
    floor = FONT_SIZE * (2.6 if _tagged(tree, labels) else 1.5)
    figure, axes = blank_axes(width, floor + level * heights[0] + 4)
    for word, place in zip(tree.words, words):
        axes.text(place, FONT_SIZE * 0.6, word, ha="center", va="center_baseline")
    tops = [floor + level * height for height in heights]
    return figure, axes, list(zip(_node_places(tree.nodes, words), tops))


def _down_the_page(
    tree: ConstituentTree, labels: Sequence[str], heights: Sequence[int], families: list[str]
) -> tuple[Figure, Axes, list[Spot]]:
    """A word a line; and where the nodes are."""
    # Each level is as wide as its widest label.
    steps = [_LEAST_LEVEL] * (heights[0] + 1)
    for label, each in zip(labels, heights):
        steps[each] = max(steps[each], text_width(label, SMALL, families) + 6)
    starts = [sum(steps[each + 1 :]) for each in range(len(steps))]
    right = sum(steps) + 2
    column = widest(tree.words, families)
    height = _ROW * len(tree)
    figure, axes = blank_axes(right + column, height)
    rows = [height - _ROW * (place + 0.5) for place in range(len(tree))]
    for word, row in zip(tree.words, rows):
        axes.text(right, row, word, ha="left", va="center_baseline")
    columns = [starts[each] + steps[each] / 2 for each in heights]
    return figure, axes, list(zip(columns, _node_places(tree.nodes, rows)))


def _tagged(tree: ConstituentTree, labels: Sequence[str]) -> bool:
    return any(label for label, node in zip(labels, tree.nodes) if node.leaf)


def _label(node: Constituent) -> str:
    return "" if node.label in (UNNAMED_CONSTITUENT, UNNAMED_WORD) else node.label


def _word_places(
    tree: ConstituentTree, labels: Sequence[str], families: list[str]
) -> tuple[list[float], float]:
    """The middle of each word, and the width of all."""
    widths = [text_width(word, FONT_SIZE, families) for word in tree.words]
    for node, label in zip(tree.nodes, labels):
        if node.end - node.start == 1:
            wide = text_width(label, SMALL, families)
            widths[node.start] = max(widths[node.start], wide)
    places, edge = [], 0.0
    for width in widths:
        places.append(edge + width / 2)
        edge += width + _SPACE
    return places, edge - _SPACE


def _parents(nodes: Sequence[Constituent]) -> list[int]:
    """The index of each node's parent, −1 of the root's; nodes come in preorder."""
    parents: list[int] = []
    open_nodes: list[int] = []
    for index, node in enumerate(nodes):
        del open_nodes[node.depth :]
        parents.append(open_nodes[-1] if open_nodes else -1)
        open_nodes.append(index)
    return parents


def _heights(nodes: Sequence[Constituent]) -> list[int]:
    """Levels between each node and the words: 0 of a word, 1 more than the highest child."""
    parents, heights = _parents(nodes), [0] * len(nodes)
    for index in range(len(nodes) - 1, 0, -1):
        parent = parents[index]
        heights[parent] = max(heights[parent], heights[index] + 1)
    return heights


def _node_places(nodes: Sequence[Constituent], words: Sequence[float]) -> list[float]:
    """The position of each node: above the middle between its first and its last child."""
    parents = _parents(nodes)
    places = [words[node.start] for node in nodes]
    children: list[list[int]] = [[] for _ in nodes]
    for index in range(len(nodes) - 1, -1, -1):
        if children[index]:
            outer = children[index][0], children[index][-1]
            places[index] = sum(places[child] for child in outer) / 2
        if parents[index] >= 0:
            children[parents[index]].append(index)
    return places


def _wrong(node: Constituent, known: frozenset[Span] | None) -> bool:
    span = node.start, node.end
    return known is not None and not node.leaf and span[1] - span[0] > 1 and span not in known


def _draw_branches(
    axes: Axes,
    nodes: Sequence[Constituent],
    places: Sequence[tuple[float, float]],
    known: frozenset[Span] | None,
    level_first: bool,
) -> None:
    """`level_first`: lines go level from the parent and then down, or down and then level."""
    for index, parent in enumerate(_parents(nodes)):
        if parent < 0:
            continue
        dashes = _DASHES if _wrong(nodes[parent], known) else "-"
        (x, y), (above_x, above_y) = places[index], places[parent]
        axes.plot(
            [above_x, x if level_first else above_x, x],
            [above_y, above_y if level_first else y, y],
            color="0.3", linewidth=0.8, linestyle=dashes,
            label=BRANCH, zorder=1, clip_on=False, solid_joinstyle="round",
        )  # fmt: skip


def _draw_nodes(
    axes: Axes,
    nodes: Sequence[Constituent],
    labels: Sequence[str],
    places: Sequence[tuple[float, float]],
    known: frozenset[Span] | None,
) -> None:
    for node, label, (x, y) in zip(nodes, labels, places):
        wrong = _wrong(node, known)
        if label:
            frame: dict[str, Any] = {"boxstyle": "square,pad=0.15", "facecolor": "white"}
            frame["edgecolor"] = "black" if wrong else "none"
            if wrong:
                frame |= {"linestyle": (0, (2, 1.4)), "linewidth": 0.8}
            axes.text(
                x, y, label, ha="center", va="center", fontsize=SMALL, bbox=frame, zorder=3,
                gid="node",
            )  # fmt: skip
        elif not node.leaf:
            kind, inside = (DIFFERS, "white") if wrong else (AGREES, "black")
            look = {**_NODE, "markerfacecolor": inside}
            axes.plot([x], [y], linestyle="", label=kind, zorder=3, clip_on=False, **look)


def _legend(axes: Axes, labelled: bool) -> None:
    handles = []
    kinds: dict[str, tuple[Any, str]] = {AGREES: ("-", "black"), DIFFERS: (_DASHES, "white")}
    for kind, (dashes, inside) in kinds.items():
        look = {} if labelled else {**_NODE, "markerfacecolor": inside}
        line = Line2D([], [], label=kind, color="0.3", linewidth=0.8, linestyle=dashes, **look)
        handles.append(line)
    legend_below(axes, handles, handlelength=3)
