"""When the comparisons of a table were declared: the history of its YAML."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import yaml

Pair = tuple[str, str]


def declared_dates(table: Path) -> dict[Pair, str]:
    """The day on which each comparison was first tested for, by system and baseline.

    Args:
        table: a YAML in a git checkout; nothing is known of another.
    """
    dates: dict[Pair, str] = {}
    for day, text in _versions(table):
        try:
            comparisons = yaml.safe_load(text).get("comparisons", ())
            pairs = [
                (pair["system"], pair["against"])
                for pair in comparisons
                if not pair.get("only_shown")
            ]
        except (yaml.YAMLError, AttributeError, TypeError, KeyError):  # an unfinished version
            continue
        for pair in pairs:
            dates.setdefault(pair, day)
    return dates


def _versions(table: Path) -> Iterator[tuple[str, str]]:
    """The committed contents of a file, the oldest first, each with its day."""
    history = _git(table.parent, "log", "--reverse", "--format=%H %as", "--", table.name)
    for line in (history or "").splitlines():
        commit, day = line.split()
        text = _git(table.parent, "show", f"{commit}:./{table.name}")
        if text is not None:
            yield day, text


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
