"""Words that a translation has in common with its reference, counted by bucket.

The order of the words does not count: of a word that the reference has m times and the translation
n times, min(m, n) are found. Where they have different buckets, the first ones of the reference are
those that were found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np

from syntax_nmt.data.annotation.columns import COLUMNS
from syntax_nmt.data.dependency_tree import DependencyTree
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.translations.corpus_measures import figures_of_runs
from syntax_nmt.scoring.words.buckets import Labels, first_labels

PRECISION, RECALL, F1 = SHARES = ("precision", "recall", "f1")
BITS = "bits"
FOUND, OUTPUT, REFERENCE = range(3)
"""The columns of a bucket: words found, words of the translation, words of the reference. Where
bits are measured, the first is their sum, and the second is 0."""
WIDTH = 3


def places_of_matches(reference: Sequence[str], output: Sequence[str]) -> list[int]:
    """The place in the reference of each word of a translation; −1 = the reference lacks it."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(reference):
        places.setdefault(word, []).append(place)
    taken: dict[str, int] = {}
    found = []
    for word in output:
        of_word, count = places.get(word, ()), taken.get(word, 0)
        found.append(of_word[count] if count < len(of_word) else -1)
        taken[word] = count + 1
    return found


def count_sentence(
    reference: Sequence[str],
    labels: Sequence[Labels],
    output: Sequence[str],
    output_labels: Sequence[Labels] | None,
    index: Mapping[str, int],
) -> np.ndarray:
    """The counts of a sentence, buckets × :data:`WIDTH`.

    A word that was found has the buckets of the reference's word. Another word of the translation
    has its own; without these, those of the same form in the reference, or none if the reference
    lacks the form.

    Args:
        labels: the buckets of each word of the reference.
        output_labels: the buckets of each word of the translation; None = not known.
        index: the number of each bucket; others do not count.
    """
    counts = np.zeros((len(index), WIDTH))
    if output_labels is None:
        forms = first_labels(reference, labels)
        output_labels = [forms.get(word, ()) for word in output]
    for of_word in labels:
        _add(counts, REFERENCE, of_word, index)
    for place, own in zip(places_of_matches(reference, output), output_labels):
        if place < 0:
            _add(counts, OUTPUT, own, index)
        else:
            _add(counts, OUTPUT, labels[place], index)
            _add(counts, FOUND, labels[place], index)
    return counts


def factor_accuracies(
    trees: Sequence[Optional[DependencyTree]], factors: Sequence[Mapping[str, Sequence[str]]]
) -> dict[str, Accuracy]:
    """By factor the share of words whose value is that of the reference's word.

    The words are those that a translation has in common with its reference.

    Args:
        trees: of the references; None = no parse, whose words do not count.
        factors: of the translations, by name a value a word; `form` has the words.
    """
    known = {column.column: column for column in COLUMNS}
    counts = {name: [0, 0] for of_sentence in factors for name in of_sentence if name in known}
    for tree, of_sentence in zip(trees, factors):
        if tree is None or not of_sentence:
            continue
        places = places_of_matches(tree.words, of_sentence["form"])
        for name, count in counts.items():
            gold = known[name].values(tree)
            pairs = [
                (gold[place], value)
                for place, value in zip(places, of_sentence.get(name, ()))
                if place >= 0
            ]
            count[0] += sum(ours == theirs for theirs, ours in pairs)
            count[1] += len(pairs)
    return {name: Accuracy(*count) for name, count in counts.items()}


def _add(counts: np.ndarray, column: int, labels: Labels, index: Mapping[str, int]) -> None:
    for name in labels:
        if name in index:
            counts[index[name], column] += 1


@dataclass(frozen=True)
class BucketMeasures:
    """A measure of each bucket, for the tests of :mod:`syntax_nmt.scoring.translations`.

    Statistics are the columns of all buckets side by side, :data:`WIDTH` each. A share of no words
    is 0.

    Attributes:
        names: of the buckets.
        measures: of each bucket, F1, RECALL or BITS (of a word, the mean).
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]

    def columns(self, name: str) -> slice:
        """The columns of a bucket.

        Args:
            name: one of `names`.
        """
        first = WIDTH * self.names.index(name)
        return slice(first, first + WIDTH)

    def score_rows(self, sums: np.ndarray) -> np.ndarray:
        """The figures of many corpora, shares in percent: corpora × buckets.

        Args:
            sums: of each corpus, over its sentences (corpora × statistics).
        """
        figures = figures_of(sums.reshape(len(sums), len(self.names), WIDTH))
        columns = [figures[measure][:, place] for place, measure in enumerate(self.measures)]
        return np.stack(columns, axis=1)

    def run_scores(self, statistics: Sequence[np.ndarray]) -> dict[str, list[float]]:
        """The figures of each run of a system, by bucket.

        Args:
            statistics: of each run, sentences × statistics.
        """
        return figures_of_runs(self.names, self.score_rows, statistics)


def figures_of(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Precision, recall and F1, in percent, and bits; 0 where there is nothing to count.

    Args:
        counts: … × :data:`WIDTH`.
    """
    found = counts[..., FOUND]
    wholes = {
        PRECISION: counts[..., OUTPUT],
        RECALL: counts[..., REFERENCE],
        F1: (counts[..., OUTPUT] + counts[..., REFERENCE]) / 2,  # the harmonic mean of both shares
    }
    figures = {name: 100 * found / np.maximum(whole, 0.5) for name, whole in wholes.items()}
    return {**figures, BITS: found / np.maximum(counts[..., REFERENCE], 0.5)}
