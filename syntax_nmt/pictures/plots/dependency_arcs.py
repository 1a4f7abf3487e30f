"""A dependency tree as arcs above the words; differing arcs of a reference are below."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from syntax_nmt.data.dependency_tree import DependencyTree
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
from syntax_nmt.text.joints import plain_hyphens

MISSED = "only in the reference"
ARC = "arc"

_STEP = 15.0  # points between arcs that lie above each other
_BESIDE = 4.0  # points between arcs that end at one word
_SPACE = 7.0  # points between words
_CORNER = 7.0
# Of trees that go down the page: between words, between arcs, between words, names and arcs.
_ROW, _LEVEL, _GAP = 13.0, 8.0, 4.0
_UNNAMED = ("_", "dep")  # relations that say nothing
_STYLES: dict[str, dict[str, Any]] = {
    ARC: {"linestyle": "-", "linewidth": 0.9, "color": "black"},
    AGREES: {"linestyle": "-", "linewidth": 0.9, "color": "black"},
    DIFFERS: {"linestyle": (0, (4, 2)), "linewidth": 1.5, "color": "#d55e00"},
    MISSED: {"linestyle": (0, (1, 1.2)), "linewidth": 1.3, "color": "#0072b2"},
}


Spot = tuple[float, float]


@dataclass(frozen=True)
class _Arc:
    """From `head` to `word`; the root's head is itself."""

    head: int
    word: int
    relation: str
    kind: str

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.head, self.word), max(self.head, self.word)


def draw_dependencies(
    tree: DependencyTree,
    reference: DependencyTree | None = None,
    relations: bool = True,
    title: str = "",
    room: float | None = None,
) -> Figure:
    """Arrows go from heads to dependents; the root's comes from above.

    With a reference, arcs whose head is another there are dashed, and the reference's own arcs for
    these words are dotted and below the words. A tree that is wider than the room for it goes down
    the page: a word a line, arcs on the right, those of the reference on the left.

    Args:
        tree: what to draw.
        reference: over the same words.
        relations: write their names at the arcs, where they say something.
        title: above the tree.
        room: the most that it may be wide, in points; None = any.
    """
    tree = replace(tree, words=plain_hyphens(tree.words))
    above, below = _arcs(tree, reference, relations)
    names = [arc.relation for arc in above + below]
    with picture_style([*tree.words, *names, title]) as families:
        centres, width = _places(tree.words, above + below, families)
        levels = _levels(above), _levels(below)
        if room is not None and width > room:
            figure, axes = _down_the_page(tree.words, (above, below), levels, families)
        else:
            figure, axes = _across_the_page(tree.words, (above, below), levels, centres, width)
        figure.set_label(title or f"dependency tree: {' '.join(tree.words)}")
        axes.set_title(title, pad=4)
        _legend(axes, above + below)
        return figure


def arcs_height(tree: DependencyTree) -> float:
    """The room that the arcs of a tree take above its words, in points."""
    return _STEP * (max(_levels(_arcs(tree, None, False)[0]), default=0) + 1)


def word_places(tree: DependencyTree, families: list[str]) -> tuple[list[float], float]:
    """The middle of each word, so that words and arcs have room; and the width of all, in points.

    Args:
        families: of fonts, in the order in which letters are looked for.
    """
    return _places(tree.words, _arcs(tree, None, False)[0], families)


def draw_arcs(axes: Axes, tree: DependencyTree, centres: Sequence[float], base: float) -> None:
    """Arcs above a line of words, without names.

    Args:
        axes: whose coordinates are points.
        centres: the middle of each word.
        base: where the arcs begin.
    """
    arcs, _ = _arcs(tree, None, False)
    _draw_side(
        axes, arcs, _levels(arcs), centres, _offsets(arcs), _STEP, lambda x, y: (x, base + y)
    )


def _across_the_page(
    words: Sequence[str],
    arcs: tuple[Sequence[_Arc], Sequence[_Arc]],
    levels: tuple[Sequence[int], Sequence[int]],
    centres: Sequence[float],
    width: float,
) -> tuple[Figure, Axes]:
    """Words on one line, arcs above and below it with their names."""
    heights = [_STEP * (max(found, default=0) + 1) for found in levels]
    lower = heights[1] if arcs[1] else 0.0
    line = FONT_SIZE * 1.6
    figure, axes = blank_axes(width, lower + line + heights[0])
    for word, centre in zip(words, centres):
        axes.text(centre, lower + line / 2, word, ha="center", va="center_baseline")
    for side, base, up in ((0, lower + line, 1), (1, lower, -1)):

        def spot(along: float, away: float, base: float = base, up: int = up) -> Spot:
            return along, base + up * away

        offsets = _offsets(arcs[side])
        _draw_side(axes, arcs[side], levels[side], centres, offsets, _STEP, spot)
        for index, (arc, level) in enumerate(zip(arcs[side], levels[side])):
            ends = [centres[word] + offsets[index, word] for word in (arc.head, arc.word)]
            place = spot(sum(ends) / 2, _STEP * level)
            if arc.head == arc.word:
                _write(axes, place[0] + 3, place[1], arc.relation, "left", up)
            else:
                _write(axes, *place, arc.relation, "center", up)
    return figure, axes


def _down_the_page(
    words: Sequence[str],
    arcs: tuple[Sequence[_Arc], Sequence[_Arc]],
    levels: tuple[Sequence[int], Sequence[int]],
    families: list[str],
) -> tuple[Figure, Axes]:
    """A word a line; between words and arcs the names of the arcs that end there."""
    depths = [_LEVEL * (max(found, default=0) + 1) for found in levels]
    names = [widest((arc.relation for arc in side), families, SMALL) + 2 * _GAP for side in arcs]
    left = depths[1] + names[1] if arcs[1] else 0.0
    column = widest(words, families)
    right = left + column + names[0]
    height = _ROW * len(words)
    figure, axes = blank_axes(right + depths[0], height)
    centres = [_ROW * (place + 0.5) for place in range(len(words))]
    for word, centre in zip(words, centres):
        axes.text(left, height - centre, word, ha="left", va="center_baseline")
    for side, base, outwards in ((0, right, 1), (1, depths[1], -1)):

        def spot(along: float, away: float, base: float = base, outwards: int = outwards) -> Spot:
            return base + outwards * away, height - along

        offsets = _offsets(arcs[side])
        most = max((abs(each) for each in offsets.values()), default=0.0)
        fitting = min(1.0, 0.42 * _ROW / most) if most else 1.0
        offsets = {key: fitting * each for key, each in offsets.items()}
        _draw_side(axes, arcs[side], levels[side], centres, offsets, _LEVEL, spot)
        for arc in arcs[side]:
            x, y = spot(centres[arc.word], -_GAP)
            axes.text(
                x, y, arc.relation, ha="right" if outwards > 0 else "left", va="center_baseline",
                fontsize=SMALL, color="0.25", gid="relation",
            )  # fmt: skip
    return figure, axes


def _arcs(
    tree: DependencyTree, reference: DependencyTree | None, relations: bool
) -> tuple[list[_Arc], list[_Arc]]:
    """The arcs above the words and those below."""
    above, below = [], []
    for word, head in enumerate(tree.heads):
        kind = ARC
        if reference is not None:
            kind = AGREES if reference.heads[word] == head else DIFFERS
        above.append(_Arc(head, word, _name(tree, word, relations), kind))
        if reference is not None and kind == DIFFERS:
            name = _name(reference, word, relations)
            below.append(_Arc(reference.heads[word], word, name, MISSED))
    return above, below


def _name(tree: DependencyTree, word: int, relations: bool) -> str:
    if tree.heads[word] == word:
        return "root"
    name = tree.relations[word]
    return name if relations and name not in _UNNAMED else ""


def _places(
    words: Sequence[str], arcs: Sequence[_Arc], families: list[str]
) -> tuple[list[float], float]:
    """The middle of each word, so that words and names of arcs have room; and the width of all."""
    halves = [text_width(word, FONT_SIZE, families) / 2 for word in words]
    ends = [[0, 0] for _ in words]  # arcs that end on the left and on the right of the middle
    for arc in arcs:
        left, right = arc.ends
        if left != right:
            ends[left][1] += 1
            ends[right][0] += 1
    centres: list[float] = []
    for word, half in enumerate(halves):
        place = max(half, _BESIDE * ends[word][0])
        if word:
            room = max(
                halves[word - 1] + half, _BESIDE * (max(ends[word - 1]) + max(ends[word])) / 2
            )
            place = centres[-1] + room + _SPACE
        for arc in arcs:
            left, right = arc.ends
            if right == word and left < word:
                inside = text_width(arc.relation, SMALL, families) + 4
                inside += _BESIDE * (ends[left][1] + ends[word][0]) / 2
                place = max(place, centres[left] + inside)
        centres.append(place)
    if not centres:
        return [], 1.0
    return centres, centres[-1] + max(halves[-1], 8.0)


def _levels(arcs: Sequence[_Arc]) -> list[int]:
    """How high each arc must be to lie above those that it spans or crosses; from 1."""
    levels = [0] * len(arcs)
    by_length = sorted(range(len(arcs)), key=lambda i: arcs[i].ends[1] - arcs[i].ends[0])
    done: list[int] = []
    for index in by_length:
        left, right = arcs[index].ends
        if left == right:
            continue
        lower = [
            levels[other]
            for other in done
            if arcs[other].ends[0] < right and left < arcs[other].ends[1]
        ]
        levels[index] = 1 + max(lower, default=0)
        done.append(index)
    top = 1 + max(levels, default=0)
    return [level or top for level in levels]  # the root's, from above all


def _draw_side(
    axes: Axes,
    arcs: Sequence[_Arc],
    levels: Sequence[int],
    centres: Sequence[float],
    offsets: Mapping[tuple[int, int], float],
    step: float,
    spot: Callable[[float, float], Spot],
) -> None:
    """Arcs on one side of the words; `spot` places what lies so far along them and away."""
    for index, (arc, level) in enumerate(zip(arcs, levels)):
        away = step * level
        start = centres[arc.head] + offsets[index, arc.head]
        end = centres[arc.word] + offsets[index, arc.word]
        if arc.head == arc.word:
            path = Path([spot(end, away), spot(end, 0)])
        else:
            bridge = _bridge(start, end, away, min(_CORNER, step / 2))
            path = Path([spot(*point) for point in np.asarray(bridge.vertices)], bridge.codes)
        _arrow(axes, path, arc.kind)


def _offsets(arcs: Sequence[_Arc]) -> dict[tuple[int, int], float]:
    """How far from a word's middle each arc ends: (arc, word) -> points.

    An arc to the right ends on the right, and the longer it is the nearer to the middle, so that
    arcs of one word do not cross.
    """
    sides: dict[tuple[int, int], list[int]] = {}
    offsets: dict[tuple[int, int], float] = {}
    for index, arc in enumerate(arcs):
        left, right = arc.ends
        if left == right:
            offsets[index, left] = 0.0
            continue
        sides.setdefault((left, 1), []).append(index)
        sides.setdefault((right, -1), []).append(index)
    for (word, side), members in sides.items():
        members.sort(key=lambda i: arcs[i].ends[0] - arcs[i].ends[1])
        both = (word, -side) in sides or (any(arc.head == arc.word == word for arc in arcs))
        first = 0.5 if both else 0.0
        for place, index in enumerate(members):
            offsets[index, word] = side * _BESIDE * (place + first)
    return offsets


def _bridge(start: float, end: float, height: float, most: float) -> Path:
    """Up, over and down again, with round corners."""
    corner = min(most, abs(end - start) / 2)
    step = corner if end > start else -corner
    points = [
        (start, 0), (start, height), (start, height), (start + step, height),
        (end - step, height), (end, height), (end, height), (end, 0),
    ]  # fmt: skip
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
    return Path(points, codes)


def _arrow(axes: Axes, path: Path, kind: str) -> None:
    arrow = FancyArrowPatch(
        path=path, arrowstyle="-|>,head_length=2.6,head_width=1.5", mutation_scale=1.4, label=kind,
        joinstyle="miter", **_STYLES[kind],
    )  # fmt: skip
    axes.add_patch(arrow)


def _write(axes: Axes, x: float, y: float, text: str, align: str, up: int) -> None:
    if text:
        side: dict[str, Any] = {"va": "bottom" if up > 0 else "top", "ha": align}
        axes.text(x, y + up * 1.5, text, fontsize=SMALL, color="0.25", gid="relation", **side)


def _legend(axes: Axes, arcs: Sequence[_Arc]) -> None:
    kinds = [kind for kind in (AGREES, DIFFERS, MISSED) if any(arc.kind == kind for arc in arcs)]
    if kinds:
        handles = [Line2D([], [], label=kind, **_STYLES[kind]) for kind in kinds]
        legend_below(axes, handles, handlelength=3)
