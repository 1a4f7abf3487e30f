"""Words by bucket as rows of dots."""

from dataclasses import dataclass

from syntax_nmt.pictures.plots.group_curves import Group, Point
from syntax_nmt.scoring.translations.resampling import Interval
from syntax_nmt.scoring.translations.significance import SeedTest
from syntax_nmt.scoring.words.bucket_tables import BucketTable


@dataclass(frozen=True)
class WordDots:
    """What is drawn of one kind of buckets; those with too few words are left out.

    Attributes:
        groups: the buckets.
        systems: the points of each system.
        about: what the points are, and what else is to be known.
        barred: whether points have intervals.
    """

    groups: list[Group]
    systems: dict[str, list[Point | None]]
    about: str
    barred: bool


def word_dots(table: BucketTable, differences: bool = False) -> WordDots:
    """The scores of all systems.

    Args:
        table: one kind of buckets.
        differences: those of all systems from the first one in place of scores.
    """
    buckets, names = table.tested(), table.systems
    systems: dict[str, list[Point | None]] = {}
    for place, name in enumerate(names):
        scores = [bucket.systems[place] for bucket in buckets]
        if not differences:
            systems[name] = [_point(each.score, each.interval) for each in scores]
        elif place:
            systems[f"{name} − {names[0]}"] = [
                _point(each.difference, each.over_seeds) for each in scores
            ]
    groups = [Group(bucket.bucket, bucket.words) for bucket in buckets]
    barred = any(point and point.low is not None for line in systems.values() for point in line)
    return WordDots(groups, systems, _about(table, differences, barred), barred)


def _about(table: BucketTable, differences: bool, barred: bool) -> str:
    unit, over = ("difference in points", " over seeds") if differences else ("%", "")
    if any(each.seeds is not None for bucket in table.tested() for each in bucket.systems):
        over += " and sentences" * differences
    if table.is_of_bits:
        unit = "difference; less is better" if differences else "less is better"
    lines = [f"{table} ({unit})"]
    if barred:
        lines.append(f"bars: 95 % intervals{over}")
    elif differences:
        lines.append("intervals need a test over seeds, and three of each system")
    lines.append("in brackets: words of the reference")
    left_out = len(table.buckets) - len(table.tested())
    if left_out:
        lines[-1] += f"; left out: {left_out} with fewer than {table.least_words}"
    return "\n".join(lines)


def _point(value: float | None, bounds: Interval | SeedTest | None) -> Point | None:
    if value is None:
        return None
    return Point(value) if bounds is None else Point(value, bounds.low, bounds.high)
