"""Hyphens split off words, and the text that such words were."""

from collections.abc import Iterable

JOINT = "@-@"
"""A hyphen split off a word so that it can be joined again, as Moses writes it."""


def plain_hyphen(word: str) -> str:
    """A word as it is read: :data:`JOINT` is a hyphen."""
    return "-" if word == JOINT else word


def plain_hyphens(words: Iterable[str]) -> tuple[str, ...]:
    """Words as they are read, as many as before; see :func:`plain_hyphen`."""
    return tuple(map(plain_hyphen, words))


def joined_hyphens(words: Iterable[str]) -> str:
    """A line of words in which hyphens that were split off touch their neighbours again."""
    words = list(words)
    joints = {place for place in range(1, len(words) - 1) if words[place] == JOINT}
    line = ""
    for place, word in enumerate(plain_hyphens(words)):
        touches = not place or place in joints or place - 1 in joints
        line += word if touches else f" {word}"
    return line
