"""Cells and lines of tables of scores, made of the figures that go into JSON."""

from __future__ import annotations

from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE


def metric_name(figures: dict[str, Any], name: str) -> str:
    """A metric in the head of a table: an arrow says where less is better.

    Args:
        figures: with `metrics`.
    """
    return name if figures["metrics"][name]["higher_is_better"] else f"{name} ↓"


def score_cell(item: dict[str, Any], width: int) -> str:
    """A score with what is known about its certainty: `35.9 ±1.2 sd 0.3`.

    Args:
        item: with `score`, and possibly `interval` and `spread`.
        width: digits after the point.
    """
    if item["score"] is None:
        return NO_FIGURE
    cell = f"{item['score']:.{width}f}"
    if item.get("interval"):
        cell += f" ±{item['interval']['half_width']:.{width}f}"
    if item["spread"] is not None:
        cell += f" sd {item['spread']:.{width}f}"
    return cell


def signature_lines(figures: dict[str, Any]) -> list[str]:
    """A line for each metric: its name and signature.

    Args:
        figures: with `metrics`.
    """
    return [f"{name}: {item['signature']}" for name, item in figures["metrics"].items()]
