"""Chunks as boxes below their words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from syntax_nmt.data.chunks import OUTSIDE, Chunk
from syntax_nmt.pictures.plots.style import (
    AGREES,
    DIFFERS,
    FONT_SIZE,
    SMALL,
    blank_axes,
    legend_below,
    picture_style,
    text_width,
)
from syntax_nmt.text.joints import plain_hyphens

_SPACE, _STRIP, _GAP = 7.0, 13.0, 5.0  # points between words, of a row of boxes, between rows
_WIDEST, _BETWEEN = 640.0, 14.0  # points of a line, between lines
# Types differ in grey as well, as far as there are greys.
_SHADES = ("0.93", "0.80", "1.0", "0.87")


def draw_chunks(
    words: Sequence[str],
    rows: Mapping[str, Sequence[Chunk]],
    reference: str | None = None,
    title: str = "",
) -> Figure:
    """A box a chunk with its type in it; words outside every chunk have a line.

    Long sentences take several lines, which end where chunks of every row end.

    Args:
        rows: for each name, such as that of a system, chunks that cover the words.
        reference: which row is it; chunks of others that it does not have get dashed boxes.
        title: above all.
    """
    words = plain_hyphens(words)
    tags = [chunk.tag for chunks in rows.values() for chunk in chunks]
    with picture_style([*words, *rows, *tags, title]) as families:
        widths = _widths(words, rows, families)
        lines = _lines(widths, rows.values())
        line_height = FONT_SIZE * 1.7 + len(rows) * (_STRIP + _GAP)
        whole = max((sum(widths[start:end]) for start, end in lines), default=1.0)
        figure, axes = blank_axes(whole, len(lines) * (line_height + _BETWEEN) - _BETWEEN)
        figure.set_label(title or f"chunks: {' '.join(words)}")
        shades = {
            tag: _SHADES[i % len(_SHADES)] for i, tag in enumerate(sorted({*tags} - {OUTSIDE}))
        }
        known = set(rows[reference]) if reference is not None else None
        top = len(lines) * (line_height + _BETWEEN) - _BETWEEN
        for span in lines:
            edges = _write_words(axes, words, widths, span, top)
            bottom = top - FONT_SIZE * 1.7
            for name, chunks in rows.items():
                bottom -= _STRIP + _GAP
                if len(rows) > 1:
                    middle = bottom + _STRIP / 2
                    axes.text(-8, middle, name, ha="right", va="center", fontsize=SMALL)
                inside = [chunk for chunk in chunks if chunk.start in edges]
                compared = known if name != reference else None
                _draw_row(axes, inside, edges, bottom, shades, compared)
            top -= line_height + _BETWEEN
        axes.set_title(title, pad=4)
        if known is not None and len(rows) > 1:
            _legend(axes)
        return figure


def _widths(
    words: Sequence[str], rows: Mapping[str, Sequence[Chunk]], families: list[str]
) -> list[float]:
    """How wide each word is, with room for the types of chunks."""
    widths = [text_width(word, FONT_SIZE, families) + _SPACE for word in words]
    for chunks in rows.values():
        for chunk in chunks:
            inside = widths[chunk.start : chunk.end]
            needed = 0.0 if chunk.tag == OUTSIDE else text_width(chunk.tag, SMALL, families) + 8
            for word in range(chunk.start, chunk.end):
                widths[word] += max(0.0, needed - sum(inside)) / len(inside)
    return widths


def _lines(widths: Sequence[float], rows: Iterable[Sequence[Chunk]]) -> list[tuple[int, int]]:
    """Where lines begin and end: only where every row begins a chunk."""
    begins = [{chunk.start for chunk in chunks} for chunks in rows]
    breaks = sorted(set.intersection(*begins)) if begins else []
    lines: list[tuple[int, int]] = []
    start = 0
    for place, following in zip(breaks, [*breaks[1:], len(widths)]):
        if place > start and sum(widths[start:following]) > _WIDEST:
            lines.append((start, place))
            start = place
    return [*lines, (start, len(widths))]


def _write_words(
    axes: Axes, words: Sequence[str], widths: Sequence[float], span: tuple[int, int], top: float
) -> dict[int, tuple[float, float]]:
    """Writes a line's words; where each of them begins and ends."""
    edges, place = {}, 0.0
    for word in range(*span):
        edges[word] = place, place + widths[word]
        middle = place + widths[word] / 2
        height = top - FONT_SIZE * 0.85
        axes.text(middle, height, words[word], ha="center", va="center_baseline")
        place += widths[word]
    return edges


def _draw_row(
    axes: Axes,
    chunks: Sequence[Chunk],
    edges: Mapping[int, tuple[float, float]],
    bottom: float,
    shades: Mapping[str, str],
    known: set[Chunk] | None,
) -> None:
    for chunk in chunks:
        left, right = edges[chunk.start][0] + 1, edges[chunk.end - 1][1] - 1
        if chunk.tag == OUTSIDE:
            middle = bottom + _STRIP / 2
            axes.plot(
                [left + 2, right - 2], [middle] * 2, color="0.6", linewidth=0.8, label=OUTSIDE
            )
            continue
        wrong = known is not None and chunk not in known
        style = _box(wrong) | {"facecolor": shades[chunk.tag]}
        size = right - left, _STRIP
        axes.add_patch(Rectangle((left, bottom), *size, label=chunk.tag, clip_on=False, **style))
        centre = (left + right) / 2, bottom + _STRIP / 2
        axes.text(*centre, chunk.tag, ha="center", va="center", fontsize=SMALL)


def _box(wrong: bool) -> dict[str, Any]:
    if wrong:
        return {"linewidth": 1.5, "linestyle": (0, (3, 1.6)), "edgecolor": "black"}
    return {"linewidth": 0.8, "linestyle": "-", "edgecolor": "0.35"}


def _legend(axes: Axes) -> None:
    handles = []
    for kind in (AGREES, DIFFERS):
        style = _box(kind == DIFFERS)
        handles.append(Line2D([], [], label=kind, color=style.pop("edgecolor"), **style))
    legend_below(axes, handles, handlelength=3)
