"""Words by bucket out of the JSON of `score` and `compare`, as rows of dots."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syntax_nmt.pictures.plots.group_curves import Group, Point
from syntax_nmt.scoring.words.word_tables import measure_text


@dataclass(frozen=True)
class WordDots:
    """What is drawn of one kind of buckets; those with too few words are left out.

    Attributes:
        groups: the buckets.
        systems: the points of each system.
        about: what the points are, and what else is to be known.
    """

    groups: list[Group]
    systems: dict[str, list[Point | None]]
    about: str


def word_dots(table: Mapping[str, Any], differences: bool = False) -> WordDots:
    """The scores of all systems.

    Args:
        table: one kind of buckets, of `word_figures`.
        differences: those of all systems from the first one in place of scores.
    """
    buckets = [each for each in table["buckets"] if each["tested"]]
    names = [system["name"] for system in table["buckets"][0]["systems"]]
    systems: dict[str, list[Point | None]] = {}
    for place, name in enumerate(names):
        of_buckets = [bucket["systems"][place] for bucket in buckets]
        if not differences:
            systems[name] = [_point(each["score"], each["interval"]) for each in of_buckets]
        elif place:
            systems[f"{name} − {names[0]}"] = [
                _point(each["difference"], each.get("seeds")) for each in of_buckets
            ]
    groups = [Group(each["bucket"], each["words"]) for each in buckets]
    barred = any(point and point.low is not None for line in systems.values() for point in line)
    return WordDots(groups, systems, _about(table, len(buckets), differences, barred))


def _about(table: Mapping[str, Any], shown: int, differences: bool, barred: bool) -> str:
    unit, over = ("difference in points", " over seeds and sentences") if differences else ("%", "")
    lines = [f"{measure_text(table)} ({unit})"]
    if barred:
        lines.append(f"bars: 95 % intervals{over}")
    elif differences:
        lines.append("intervals need three seeds of each system")
    lines.append("in brackets: words of the reference")
    left_out = len(table["buckets"]) - shown
    if left_out:
        lines[-1] += f"; left out: {left_out} with fewer than {table['least_words']}"
    return "\n".join(lines)


def _point(value: float, interval: Mapping[str, Any] | None) -> Point:
    return Point(value, interval["low"], interval["high"]) if interval else Point(value)
