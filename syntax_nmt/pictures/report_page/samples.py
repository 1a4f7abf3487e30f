"""Sentences to show: which of the test set, and how their translations differ from references."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

import numpy as np

from syntax_nmt.pictures.report_page.structures import words_of
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.text.joints import joined_hyphens
from syntax_nmt.text.unspaced import lacks_spaces, split_characters


class Run(NamedTuple):
    """A part of a text; `differs` says whether its words are not those of the reference."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Translation:
    """A system's output for a sentence.

    Attributes:
        system: its name.
        runs: the text of its first run, in parts that agree with the reference or differ.
        score: the sentence's chrF.
    """

    system: str
    runs: Sequence[Run]
    score: float


@dataclass(frozen=True)
class Sample:
    """A sentence.

    Attributes:
        position: counted from 0.
        length: words of the source, or of the reference where there is no source; characters
            where no spaces are between words.
        unit: `word` or `character`.
        source: in words, hyphens joined again; None = not known.
        references: as they are.
        translations: by system.
    """

    position: int
    length: int
    unit: str
    source: str | None
    references: Sequence[str]
    translations: Sequence[Translation]


def samples_of(
    test_set: TestSet,
    scores: np.ndarray,
    count: int,
    chosen: Sequence[int] | None = None,
) -> list[Sample]:
    """Sentences with all translations.

    Args:
        scores: chrF of each sentence, systems × sentences.
        count: how many, from short ones to long ones: those that tell most.
        chosen: these instead, counted from 1.
    """
    source = None if test_set.source is None else words_of(test_set.source)
    words = source or [tuple(line.split()) for line in test_set.references[0].sentences]
    unspaced = lacks_spaces(map(" ".join, words))
    unit = "character" if unspaced else "word"
    lengths = [len("".join(sentence) if unspaced else sentence) for sentence in words]
    if chosen is None:
        positions = choose_samples(lengths, scores, count)
    else:
        positions = [number - 1 for number in chosen]
    samples = []
    for position in positions:
        references = [text.sentences[position] for text in test_set.references]
        translations = []
        for system, of_system in zip(test_set.systems, scores):
            text = system.runs[0].sentences[position]
            runs = differing_runs(text, references)
            translations.append(Translation(system.name, runs, float(of_system[position])))
        line = joined_hyphens(source[position]) if source else None
        samples.append(Sample(position, lengths[position], unit, line, references, translations))
    return samples


def choose_samples(lengths: Sequence[int], scores: np.ndarray, count: int) -> list[int]:
    """One sentence of each of several groups of equal size, from short sentences to long ones.

    Of several systems it is the sentence whose scores lie furthest apart; of a single one that
    with the middle score of its group. The first of equals is taken: the choice is always the same.

    Args:
        lengths: of each sentence.
        scores: systems × sentences.
        count: how many, if there are as many sentences.

    Returns:
        Positions, shortest sentence first.
    """
    order = np.argsort(lengths, kind="stable")
    groups = [np.sort(group) for group in np.array_split(order, max(1, count)) if len(group)]
    several = len(scores) > 1
    chosen = []
    for group in groups[:count]:
        of_group = scores[:, group]
        if several:
            best = np.argmax(of_group.max(axis=0) - of_group.min(axis=0))
        else:
            best = np.argsort(of_group[0], kind="stable")[(len(group) - 1) // 2]
        chosen.append(int(group[best]))
    return chosen


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
