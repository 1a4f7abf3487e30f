"""Order of translations by word links: Kendall's τ, and the share of swapped pairs.

A pair of source words that are both linked is swapped where a translation has them in another order
than the reference has, or than the source has where the reference's links are not known. Where a
word has several links its place is their mean; pairs at one place are left out. With S swapped of P
pairs of a sentence,

    τ = 1 − 2 S / P,  the mean over sentences with pairs;  swapped = Σ S / Σ P.

Unlike RIBES, which matches equal words, this reads the order of words that are translated
otherwise, too (Birch and Osborne, 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import mean

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.alignments.alignment import Link, read_alignments
from syntax_nmt.scoring.parallel_text import check_parallel
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.sentence_scores import SentenceScores

TAU, SWAPPED = "τ", "swapped"


def places(links: Iterable[Link]) -> dict[int, float]:
    """The place of each linked source word on the other side: the mean of its links."""
    linked: dict[int, list[int]] = {}
    for source, target in links:
        linked.setdefault(source, []).append(target)
    return {source: mean(targets) for source, targets in linked.items()}


def swapped_pairs(one: Mapping[int, float], other: Mapping[int, float]) -> tuple[int, int]:
    """How many pairs of source words stand in different orders, and how many pairs there are.

    Args:
        one: of :func:`places`.
        other: likewise; words that only one has do not count.
    """
    swapped = pairs = 0
    common = [(one[word], other[word]) for word in one if word in other]
    for (first, its), (second, others) in combinations(common, 2):
        if first != second and its != others:
            swapped += (first < second) != (its < others)
            pairs += 1
    return swapped, pairs


def word_order(
    files: Mapping[str, Sequence[str]],
    reference: str | None,
    test_set: TestSet,
    bases: tuple[int, int] = (0, 0),
) -> list[SentenceScores]:
    """τ and the share of swapped pairs of every run, as a set of metrics takes them.

    Args:
        files: by system, for each of its runs the links of source and translation.
        reference: those of source and reference; None = the order of the source.
        bases: the number of the first word in the files of systems and of the reference, if the
            format does not define it.

    Raises:
        UserError: a file is damaged or of another number of sentences, a system has none, or no
            pair is linked in a run.
    """
    known = None
    if reference is not None:
        known = _places(reference, test_set, bases[1], "--reference-links-base")
    runs = [
        [
            _counts(path, _places(path, test_set, bases[0], "--output-links-base"), known)
            for path in system.own_files("--output-links", files)
        ]
        for system in test_set.systems
    ]
    order = "source" if reference is None else "reference"
    tau = _scores(runs, lambda swapped, pairs: (pairs > 0) - 2 * swapped / np.maximum(pairs, 1))
    has_pairs = _scores(runs, lambda swapped, pairs: (pairs > 0).astype(float))
    swaps = _scores(runs, lambda swapped, pairs: 100 * swapped)
    pairs = _scores(runs, lambda swapped, pairs: pairs)
    about = f"order of the {order}"
    return [
        SentenceScores(TAU, True, tau, has_pairs, f"{about}, mean over sentences", sign_test=False),
        SentenceScores(SWAPPED, False, swaps, pairs, f"{about}, in percent", sign_test=False),
    ]


def _places(path: str, test_set: TestSet, base: int, option: str) -> list[dict[int, float]]:
    links = read_alignments(path, base, option)
    check_parallel(path, len(links), test_set.references[0].name, test_set.sentences, "sentences")
    return [places(of_sentence) for of_sentence in links]


def _counts(
    path: str,
    own: Sequence[Mapping[int, float]],
    reference: Sequence[Mapping[int, float]] | None,
) -> np.ndarray:
    """Sentences × (swapped pairs, pairs)."""
    others = reference or [{word: float(word) for word in of_sentence} for of_sentence in own]
    found = np.array([swapped_pairs(*pair) for pair in zip(own, others)], dtype=float)
    if not found[:, 1].any():
        raise UserError(f"{path}: no sentence has two linked words whose order could be compared")
    return found


def _scores(
    runs: Sequence[Sequence[np.ndarray]], read: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[list[np.ndarray]]:
    return [[read(run[:, 0], run[:, 1]) for run in of_system] for of_system in runs]
