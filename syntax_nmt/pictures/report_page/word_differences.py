"""The words of a translation that its reference does not have in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from syntax_nmt.data.unspaced import split_characters


class Run(NamedTuple):
    """A part of a text; `differs` says whether its words are not those of the reference."""

    text: str
    differs: bool


def differing_runs(text: str, references: Sequence[str]) -> list[Run]:
    """A text in parts that agree or differ; put together they are the text, spaces made single.

    Compared with the reference that has most in common with it (difflib's longest matching blocks).
    Punctuation counts as words, and so does each character of scripts without spaces.

    Args:
        references: of the same sentence, one or more.
    """
    words, spaced = _words(text)
    matchers = [
        SequenceMatcher(None, words, _words(reference)[0], autojunk=False)
        for reference in references
    ]
    nearest = max(matchers, key=SequenceMatcher.ratio)
    differs = [True] * len(words)
    for start, _, size in nearest.get_matching_blocks():
        differs[start : start + size] = [False] * size
    runs = []
    for different, places in groupby(range(len(words)), key=differs.__getitem__):
        group = list(places)
        parts = [" " * (spaced[place] and place != group[0]) + words[place] for place in group]
        if group[0] and spaced[group[0]]:  # a space between runs is not marked
            runs.append(Run(" ", False))
        runs.append(Run("".join(parts), different))
    return runs


def _words(text: str) -> tuple[list[str], list[bool]]:
    """Words and signs, and whether a space precedes each."""
    words, spaced = [], []
    for token in text.split():
        parts = split_characters(token)
        words += parts
        spaced += [place == 0 for place in range(len(parts))]
    return words, spaced
