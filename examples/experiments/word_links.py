"""Word links of a test set, from its training text: for tables that ask which words gained.

IBM model 1 (Brown et al., 1993) whose positions prefer the diagonal (Dyer, Chahuneau and Smith,
2013), trained by EM on training and test text in both directions, lowercased; the directions are
combined by grow-diag-final-and. It needs no model that was trained for translation, so that no
system links its own words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.scoring.alignments.alignment import Alignment, flipped
from syntax_nmt.scoring.alignments.symmetrisation import symmetrise

Sentences = Sequence[Sequence[str]]

_ROUNDS = 6
_TENSION, _NULL = 4.0, 0.08  # fast_align's at the start
_SMOOTHING = 0.01  # of a count of two words


def link_words(source: Sentences, target: Sentences, last: int) -> list[Alignment]:
    """The links of the last pairs of a text, as (source, target).

    Args:
        source: words of the training text, then of the test text.
        target: the same pairs in the other language.
        last: the number of pairs of the test text.
    """
    forward = _one_direction(source, target, last)
    reverse = [flipped(links) for links in _one_direction(target, source, last)]
    return [symmetrise(*pair, "grow-diag-final-and") for pair in zip(forward, reverse)]


@dataclass(frozen=True)
class _Candidates:
    """All pairs of a target word and a source word of the same sentence, or no word.

    Attributes:
        kinds: which pair of forms each is.
        sources: the source form of each kind of pair.
        prior: by the places in the sentence.
        owner: the running number of the target word.
        places: sentence, source word (−1 = none) and target word: 3 × candidates.
    """

    kinds: np.ndarray
    sources: np.ndarray
    prior: np.ndarray
    owner: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, source: Sentences, target: Sentences) -> "_Candidates":
        """The candidates of a text."""
        of_source, of_target = _Numbers(), _Numbers()
        parts = []
        words = 0
        for sentence, (ours, theirs) in enumerate(zip(source, target)):
            if not ours or not theirs:
                continue
            left, right = np.append(0, of_source.of(ours)), of_target.of(theirs)
            size = (len(right), len(left))
            prior = np.full(size, _NULL)
            prior[:, 1:] = (1 - _NULL) * _diagonal(len(right), len(ours))
            rows, columns = np.indices(size)
            forms = np.broadcast_to(left, size), np.broadcast_to(right[:, None], size)
            whole = (*forms, prior, rows + words, np.full(size, sentence), columns - 1, rows)
            parts.append([each.ravel() for each in whole])
            words += len(right)
        left, right, prior, owner, *places = (np.concatenate(each) for each in zip(*parts))
        keys, kinds = np.unique(left * (len(of_target) + 1) + right, return_inverse=True)
        return cls(kinds, keys // (len(of_target) + 1), prior, owner, np.stack(places))

    def shares(self, probability: np.ndarray) -> np.ndarray:
        """How much of its target word each candidate explains."""
        weights = probability[self.kinds] * self.prior
        return weights / np.bincount(self.owner, weights)[self.owner]


class _Numbers(dict[str, int]):
    """A number from 1 for each form; 0 is no word."""

    def of(self, words: Sequence[str]) -> np.ndarray:
        """The numbers of the words of a sentence."""
        return np.array([self.setdefault(word.lower(), len(self) + 1) for word in words])


def _diagonal(rows: int, columns: int) -> np.ndarray:
    """A distribution over columns for each row, highest where both are equally far."""
    down, across = (np.arange(n) + 0.5 for n in (rows, columns))
    weights = np.exp(-_TENSION * np.abs(down[:, None] / rows - across / columns))
    return weights / weights.sum(axis=1, keepdims=True)


def _one_direction(source: Sentences, target: Sentences, last: int) -> list[Alignment]:
    """For each target word its best source word, unless none explains it better."""
    candidates = _Candidates.of(source, target)
    probability = np.ones(len(candidates.sources))
    for _ in range(_ROUNDS):
        counts = np.bincount(candidates.kinds, candidates.shares(probability)) + _SMOOTHING
        probability = counts / np.bincount(candidates.sources, counts)[candidates.sources]
    links: list[set[tuple[int, int]]] = [set() for _ in range(last)]
    first = len(source) - last
    wanted = np.flatnonzero(candidates.places[0] >= first)
    shares, owners = candidates.shares(probability)[wanted], candidates.owner[wanted]
    order = np.lexsort((-shares, owners))
    best = order[np.diff(owners[order], prepend=-1) > 0]
    for sentence, ours, theirs in candidates.places[:, wanted[best]].T.tolist():
        if ours >= 0:
            links[sentence - first].add((ours, theirs))
    return [frozenset(each) for each in links]
