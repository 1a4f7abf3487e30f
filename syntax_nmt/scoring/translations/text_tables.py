"""Cells and lines of tables of scores, made of the figures that go into JSON."""

from collections.abc import Mapping
from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import p_value_text
from syntax_nmt.scoring.translations.seed_tests import FEWEST

SIGNIFICANT = 0.05


def metric_name(figures: dict[str, Any], name: str) -> str:
    """A metric in the head of a table: an arrow says where less is better.

    Args:
        figures: with `metrics`.
    """
    return name if figures["metrics"][name]["higher_is_better"] else f"{name} ↓"


def score_cell(item: dict[str, Any], digits: int) -> str:
    """A score with what is known about its certainty: `35.9 ±1.2 sd 0.3`.

    Args:
        item: with `score`, and possibly `interval` and `spread`.
        digits: after the point.
    """
    if item["score"] is None:
        return NO_FIGURE
    cell = f"{item['score']:.{digits}f}"
    if item.get("interval"):
        cell += f" ±{item['interval']['half_width']:.{digits}f}"
    if item["spread"] is not None:
        cell += f" sd {item['spread']:.{digits}f}"
    return cell


def is_significant(found: dict[str, Any]) -> bool:
    """Whether a test finds a difference.

    Args:
        found: with `p_value`, None where the test says nothing; if it is one of several, with
            `p_holm`, which decides then.
    """
    p_value = found.get("p_holm", found["p_value"])
    return p_value is not None and p_value < SIGNIFICANT


def p_text(found: dict[str, Any]) -> str:
    """What a test says: p, or why there is none.

    Args:
        found: with `p_value`; of resampling also `floor`, of seeds also `seeds`; with `p_holm`,
            which follows in brackets.
    """
    if found["p_value"] is not None:
        text = p_value_text(found["p_value"], found.get("floor", 0.0))
        return f"{text} ({p_value_text(found['p_holm'])})" if "p_holm" in found else text
    return "no spread" if min(found["seeds"]) >= FEWEST else f"needs {FEWEST} seeds"


def marked_p(found: dict[str, Any], unmarked: str = " ") -> str:
    """What a test says, with an asterisk if it finds a difference.

    Args:
        found: as of :func:`p_text`.
        unmarked: stands in place of the asterisk, as wide as it.
    """
    return p_text(found) + ("*" if is_significant(found) else unmarked)


def adjusted(found: Mapping[str, Any]) -> dict[str, Any]:
    """Holm's p in place of a test's own; a bound where the test could give none below.

    Args:
        found: with `p_value` and `p_holm`.
    """
    p_value = found["p_holm"]
    floor = p_value if found["p_value"] <= found.get("floor", 0.0) else 0.0
    return {"p_value": p_value, "floor": floor}


def interval_text(found: dict[str, Any], digits: int) -> str:
    """An interval of a difference: `+0.3 to +2.1`.

    Args:
        found: with `low` and `high`; None where there is none.
        digits: after the point.
    """
    if found["low"] is None:
        return NO_FIGURE
    return f"{signed(found['low'], digits)} to {signed(found['high'], digits)}"


def signed(value: float, digits: int) -> str:
    """A difference with its sign; none where it rounds to 0.

    Args:
        digits: after the point.
    """
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def signature_lines(figures: dict[str, Any]) -> list[str]:
    """A line for each metric: its name and signature.

    Args:
        figures: with `metrics`.
    """
    return [f"{name}: {item['signature']}" for name, item in figures["metrics"].items()]
